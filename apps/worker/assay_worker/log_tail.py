"""The end of what this worker and its descendants printed. Assay points fd 2 at a log file, so it can be read back.

Needed where a rank's process died: its parent only learns that it did, the root cause stands in the log.
"""

import os
import stat

TAIL_BYTES = 1 << 16


def log_size() -> int:
    """0 where fd 2 is not a file, such as a terminal."""
    state = os.fstat(2)
    return state.st_size if stat.S_ISREG(state.st_mode) else 0


def read_log_tail(since: int = 0) -> str:
    """What was printed after the log had `since` bytes; its last 64 KiB."""
    size = log_size()
    start = max(since, size - TAIL_BYTES)
    if start >= size:
        return ""
    try:
        with open("/proc/self/fd/2", "rb") as log:
            log.seek(start)
            return log.read(size - start).decode("utf-8", "replace")
    except OSError:
        return ""
