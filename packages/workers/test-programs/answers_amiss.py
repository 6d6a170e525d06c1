"""Answers with the right event in a form that the protocol does not have."""

from speak import commands, hello, say

hello()
for command in commands():
    say(type="loaded", id=command["id"], seconds="soon")
