"""Starts a child that ignores SIGTERM and holds every pipe; its pid comes as the progress of a heartbeat."""

import subprocess
import sys

from speak import beat, commands, hello

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(300)"
child = subprocess.Popen([sys.executable, "-c", STUBBORN], stdout=subprocess.PIPE, pass_fds=[3])
assert child.stdout is not None
child.stdout.readline()
hello()
beat(child.pid)
for _ in commands():
    pass
