"""Starts a program that must not outlive its parent: `guard.py PARENT_PID CPUS PROGRAM ARGUMENT…` becomes PROGRAM.

The kernel ends the program when the parent dies, however it dies. CPUS is a list such as 0,2 or "-" for all.
Runs with `python -I -S`, so it imports nothing but the standard library.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, cpus: str, command: list[str]) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit("the parent process ended before this one started")
    if cpus != "-":
        os.sched_setaffinity(0, {int(cpu) for cpu in cpus.split(",")})
    # A crashed engine must not fill the disk with its memory; PYTHONFAULTHANDLER writes the stack instead.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise SystemExit(f"{command[0]}: {error.strerror}") from error


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
