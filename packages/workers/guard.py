"""Starts a program that must not outlive its parent: `guard.py PARENT_PID CPUS GROUP PROGRAM ARGUMENT…` becomes PROGRAM.

The kernel ends the program when the parent dies, however it dies. CPUS is a list such as 0,2 or "-" for all; GROUP is the
cgroup.procs of the control group that it and all it starts belong to, or "-" for the parent's.
Runs with `python -I -S`, so it imports nothing but the standard library.
"""

import contextlib
import ctypes
import os
import resource
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, cpus: str, group: str, command: list[str]) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        raise SystemExit("the parent process ended before this one started")
    if group != "-":
        join_group(group)
    if cpus != "-":
        os.sched_setaffinity(0, {int(cpu) for cpu in cpus.split(",")})
    # A crashed engine must not fill the disk with its memory; PYTHONFAULTHANDLER writes the stack instead.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        os.execvp(command[0], command)
    except OSError as error:
        raise SystemExit(f"{command[0]}: {error.strerror}") from error


def join_group(members: str) -> None:
    """0 stands for whoever writes it."""
    try:
        with open(members, "w") as file:
            file.write("0")
    except OSError as error:
        raise SystemExit(f"{members}: {error.strerror}") from error


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4:])
