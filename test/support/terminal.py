"""Runs a command on a terminal of its own and closes that when stdin ends, as a closed window does. Prints what it showed.

Usage: terminal.py COMMAND...
"""

import os
import pty
import select
import sys


def main(command: list[str]) -> int:
    child, terminal = pty.fork()
    if child == 0:
        os.execv(command[0], command)
    watched = [terminal, sys.stdin.fileno()]
    while True:
        ready, _, _ = select.select(watched, [], [])
        if sys.stdin.fileno() in ready:
            break
        try:
            os.write(2, os.read(terminal, 65536))
        except OSError:
            # Nobody has it open any more: the command ended, or put its output elsewhere.
            watched.remove(terminal)
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                break
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
