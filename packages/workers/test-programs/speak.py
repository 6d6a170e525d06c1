"""The least a test program needs of the worker protocol: events on fd 3, commands from stdin."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PROTOCOL = 1
FIXTURE = Path(__file__).parents[2] / "protocol" / "fixtures" / "happy-path.ndjson"


def say(**event: Any) -> None:
    os.write(3, json.dumps(event).encode() + b"\n")


def hello(protocol: int = PROTOCOL) -> None:
    say(type="hello", protocol=protocol, role="engine", pid=os.getpid(), python="3", packages={})


def beat(progress: int, state: str = "busy") -> None:
    counts = dict.fromkeys(["rssBytes", "peakBytes", "steps", "promptTokens", "newTokens", "runningRequests", "waitingRequests"], 0)
    say(type="heartbeat", state=state, progress=progress, busySeconds=0, **counts)


def commands() -> Iterator[dict[str, Any]]:
    """Ends at the `exit` command or the end of stdin."""
    for line in sys.stdin:
        command = json.loads(line)
        if command["type"] == "exit":
            return
        yield command


def read_effective() -> dict[str, Any]:
    """As the protocol's own example has it."""
    messages = (json.loads(line)["message"] for line in FIXTURE.read_text("utf-8").splitlines())
    return next(message["effective"] for message in messages if message.get("type") == "loaded")


def loaded(command: dict[str, Any]) -> None:
    say(type="loaded", id=command["id"], seconds=0, peakBytes=0, effective=read_effective())


def results(command: dict[str, Any], rows: range) -> None:
    key = {name: command[name] for name in ("shard", "epoch", "attempt")}
    answers = [{"row": row, "task": 0, "ordinal": row, "repeat": 0, "window": 0, "outcome": "ok"} for row in rows]
    say(type="results", **key, results=answers)


def shard_done(command: dict[str, Any]) -> None:
    key = {name: command[name] for name in ("id", "shard", "epoch", "attempt")}
    counts = dict.fromkeys(["requests", "seconds", "firstStepAt", "promptTokens", "cachedTokens", "newTokens", "steps", "peakBytes"], 0)
    say(type="shard_done", **key, **counts, batch={"median": 0, "max": 0})
