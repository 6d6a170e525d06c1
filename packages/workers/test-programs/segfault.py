"""Touches memory that is not its own when it is asked to do something."""

import ctypes

from speak import commands, hello

hello()
for _ in commands():
    ctypes.string_at(0)
