"""Answers every command with a failure, once with an entry of the error table."""

from speak import commands, hello, say

hello()
for command in commands():
    failure = {"class": "oom", "message": "tried to allocate 768 MiB", "allocationBytes": 805306368}
    if command["type"] == "load":
        failure = {"class": "usage", "message": "no such model", "code": "MODEL_NOT_FOUND", "details": {"model": "m", "problem": "p"}}
    say(type="failed", id=command["id"], failure=failure)
