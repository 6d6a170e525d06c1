"""A process of a few MB that outlives a killed worker just long enough to end and remove what the worker left behind.

Runs as a script without the package, in a session of its own, so that a signal to the worker's group does not end it too.
Usage: guardian.py WORKER_PID PARENT_PID TEMPORARY_FOLDER
"""

import contextlib
import os
import select
import shutil
import signal
import sys
import time

WORKER_VARIABLE = b"ASSAY_WORKER_PID="
# A tracker removes shared memory and semaphores by itself once everybody who used them has ended.
TRACKER_COMMAND = b"resource_tracker"
TRACKER_SECONDS = 0.5
POLL_SECONDS = 0.02


def main(worker: int, parent: int, temporary: str) -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    wait_for_end([worker, parent])
    end_all(worker, spare_trackers=True)
    deadline = time.monotonic() + TRACKER_SECONDS
    while find_left(worker) and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    end_all(worker, spare_trackers=False)
    remove_shared_memory(temporary)
    shutil.rmtree(temporary, ignore_errors=True)


def wait_for_end(pids: list[int]) -> None:
    """Returns when one of the processes has ended."""
    poller = select.poll()
    for pid in pids:
        try:
            poller.register(os.pidfd_open(pid), select.POLLIN)
        except ProcessLookupError:
            return
    poller.poll()


def end_all(worker: int, spare_trackers: bool) -> None:
    """Again until none is found, since a process may start another before its turn comes."""
    while True:
        found = [pid for pid in find_left(worker) if not (spare_trackers and TRACKER_COMMAND in read_file(pid, "cmdline"))]
        if not found:
            return
        for pid in found:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(POLL_SECONDS)


def find_left(worker: int) -> list[int]:
    """Living processes of the worker's group or with its number in their environment, which they keep in any session."""
    mark = WORKER_VARIABLE + str(worker).encode()
    pids = [int(entry) for entry in os.listdir("/proc") if entry.isdecimal() and int(entry) != os.getpid()]
    return [pid for pid in pids if is_alive_in(pid, worker, mark)]


def is_alive_in(pid: int, group: int, mark: bytes) -> bool:
    fields = read_file(pid, "stat").rpartition(b")")[2].split()
    if not fields or fields[0] in (b"Z", b"X"):
        return False
    return int(fields[2]) == group or mark in read_file(pid, "environ").split(b"\0")


def remove_shared_memory(temporary: str) -> None:
    """Segments of vLLM's ranks, which nobody tracks, begin with the name of a file that it puts into the temporary folder."""
    with contextlib.suppress(OSError):
        marks = tuple(name for name in os.listdir(temporary) if name.startswith("vllm_dist_"))
        for name in os.listdir("/dev/shm"):
            if marks and name.startswith(marks):
                os.unlink(f"/dev/shm/{name}")


def read_file(pid: int, name: str) -> bytes:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:
        return file.read()
    return b""


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
