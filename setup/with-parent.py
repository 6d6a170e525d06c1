"""Runs a command that dies with the process that started it, even when that one is killed with -9.

Usage: with-parent.py PARENT_PID COMMAND [ARGUMENT...]
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1

ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() != int(sys.argv[1]):
    sys.exit("the parent ended before its child started")
os.execvp(sys.argv[2], sys.argv[2:])
