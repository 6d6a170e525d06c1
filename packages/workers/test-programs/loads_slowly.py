"""Loads part by part, 0.1 s each, and stops in the middle if the command says so."""

import time

from speak import beat, commands, hello, loaded

PARTS = 20

hello()
for command in commands():
    parts = command["engineArgs"].get("parts", PARTS)
    for part in range(parts):
        beat(part, state="loading")
        time.sleep(0.1)
    if parts == PARTS:
        loaded(command)
