"""Tells a load that gets on from one that hangs. A load has no steps to count, but it reads, grows or prints."""

import contextlib

from assay_worker.log_tail import log_size
from assay_worker.memory import list_tree, read_resident_bytes

# Coarser than what the heartbeat's own reads of /proc amount to between two looks.
READ_UNIT_BYTES = 1 << 22
MEMORY_UNIT_BYTES = 1 << 20


class LoadWatch:
    def __init__(self) -> None:
        self._last = (0, 0, 0)

    def has_moved(self) -> bool:
        """Whether anything was read, allocated or printed since the last look."""
        now = (read_input_bytes() // READ_UNIT_BYTES, read_resident_bytes() // MEMORY_UNIT_BYTES, log_size())
        moved, self._last = now != self._last, now
        return moved


def read_input_bytes() -> int:
    total = 0
    for pid in list_tree():
        with contextlib.suppress(OSError), open(f"/proc/{pid}/io") as counters:
            total += int(counters.readline().split()[1])
    return total
