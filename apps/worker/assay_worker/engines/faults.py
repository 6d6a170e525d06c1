"""Faults of the simulated engine, so that a test of what surrounds an engine can say exactly when it fails and how.

A fault: {"at": "load" | "add" | "row", "row"?: n, "do": ACTIONS, …, "marker"?: PATH}. With a marker, a file made when it
strikes, it strikes once for all processes together; a retry then succeeds.
"""

import mmap
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from assay_worker.engines.base import RequestRefused


class Swallowed(Exception):
    """The request vanishes in the engine: no answer, no error."""


def touch_pages(count: int) -> None:
    """Memory that is only reserved is counted by no kernel."""
    with mmap.mmap(-1, max(1, count)) as pages:
        for start in range(0, count, mmap.PAGESIZE):
            pages[start] = 1


def _raise(error: Exception) -> None:
    raise error


ACTIONS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "exit": lambda fault: os._exit(int(fault.get("code", 1))),
    "kill": lambda fault: os.kill(os.getpid(), signal.SIGKILL),
    "hang": lambda fault: time.sleep(1e6),
    "sleep": lambda fault: time.sleep(float(fault["seconds"])),
    "spawn": lambda fault: subprocess.Popen(fault["command"]),
    "print": lambda fault: os.write(1, f"{fault.get('text', '')}\n".encode()),
    "stderr": lambda fault: print(fault.get("text", ""), file=sys.stderr, flush=True),
    "raise": lambda fault: _raise(RuntimeError(str(fault.get("text", "simulated failure")))),
    "oom": lambda fault: _raise(MemoryError(f"you tried to allocate {int(fault.get('bytes', 0))} bytes")),
    "touch": lambda fault: touch_pages(int(fault["bytes"])),
    "swallow": lambda fault: _raise(Swallowed()),
    "refuse": lambda fault: _raise(RequestRefused(str(fault.get("text", "simulated refusal")))),
}


class Faults:
    def __init__(self, faults: list[dict[str, Any]]) -> None:
        unknown = [fault["do"] for fault in faults if fault["do"] not in ACTIONS]
        if unknown:
            raise ValueError(f"unknown faults {unknown}; known: {sorted(ACTIONS)}")
        self._by_place: dict[tuple[str, int | None], list[dict[str, Any]]] = {}
        for fault in faults:
            self._by_place.setdefault((fault["at"], fault.get("row")), []).append(fault)

    def trigger(self, place: str, row: int | None = None) -> None:
        for fault in self._by_place.get((place, row), []):
            if claim_marker(fault.get("marker")):
                ACTIONS[fault["do"]](fault)


def claim_marker(path: str | None) -> bool:
    """True where the fault may strike: it has no marker, or nobody made it before."""
    if path is None:
        return True
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True
