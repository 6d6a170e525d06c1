"""Answers every command as an engine does whose rank has died."""

from speak import commands, hello, say

hello()
for command in commands():
    say(type="failed", id=command["id"], failure={"class": "engine", "message": "EngineDeadError: a rank died unexpectedly (exit code: -9)"})
