"""A process of a few MB that outlives a killed worker just long enough to end what the worker left behind.

Runs as a script without the package. Usage: guardian.py WORKER_PID PARENT_PID
"""

import contextlib
import os
import select
import signal
import sys

WORKER_VARIABLE = b"ASSAY_WORKER_PID="


def main(worker: int, parent: int) -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    wait_for_end([worker, parent])
    end_marked_processes(worker)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def wait_for_end(pids: list[int]) -> None:
    """Returns when one of the processes has ended."""
    poller = select.poll()
    for pid in pids:
        try:
            poller.register(os.pidfd_open(pid), select.POLLIN)
        except ProcessLookupError:
            return
    poller.poll()


def end_marked_processes(worker: int) -> None:
    """Ends descendants that left the group; they still carry the worker's number in their environment."""
    mark = WORKER_VARIABLE + str(worker).encode()
    for entry in os.listdir("/proc"):
        if not entry.isdecimal() or int(entry) == os.getpid():
            continue
        with contextlib.suppress(OSError), open(f"/proc/{entry}/environ", "rb") as environment:
            if mark in environment.read().split(b"\0"):
                os.kill(int(entry), signal.SIGKILL)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
