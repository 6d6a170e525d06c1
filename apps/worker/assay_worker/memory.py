"""Memory of this process and its descendants, as the kernel counts it."""

import contextlib
import os
from pathlib import Path

_KIB = 1024


def read_resident_bytes() -> int:
    """Now, descendants included (the ranks of a tensor-parallel engine are processes of their own)."""
    return sum(_read_status(pid, "VmRSS") for pid in list_tree())


def read_peak_bytes() -> int:
    """The sum of each process's own high-water mark: an upper bound where they did not peak together."""
    return sum(_read_status(pid, "VmHWM") for pid in list_tree())


def read_address_space_peak_bytes() -> int:
    """Of the process that has reserved the most since it started: a limit on address space is each process's own."""
    return max(_read_status(pid, "VmPeak") for pid in list_tree())


def reset_peak() -> bool:
    """Lets the high-water marks start again from the present. False where the kernel does not allow it."""
    try:
        for pid in list_tree():
            Path(f"/proc/{pid}/clear_refs").write_text("5")
    except OSError:
        return False
    return True


def list_tree() -> list[int]:
    """This process and the descendants with memory of their own. A child that has not replaced its program yet shares its
    parent's pages, and counting them twice would show a peak that never was."""
    pids = [os.getpid()]
    for pid in pids:
        pids.extend(child for child in _list_children(pid) if _read_command(child) != _read_command(pid))
    return pids


def _list_children(pid: int) -> list[int]:
    children: list[int] = []
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            children.extend(int(child) for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split())
    return children


def _read_command(pid: int) -> bytes:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def _read_status(pid: int, field: str) -> int:
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * _KIB
    return 0
