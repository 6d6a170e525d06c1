"""Takes work and keeps its heart beating, but makes no progress. Deaf to SIGTERM and to `exit`."""

import signal
import time

from speak import beat, commands, hello

signal.signal(signal.SIGTERM, signal.SIG_IGN)


def wait_for_a_device_that_is_gone() -> None:
    while True:
        beat(1)
        time.sleep(0.05)


hello()
for _ in commands():
    wait_for_a_device_that_is_gone()
wait_for_a_device_that_is_gone()
