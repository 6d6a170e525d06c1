"""Reads commands and never answers."""

from speak import commands, hello

hello()
for _ in commands():
    pass
