"""Ties this process and everything it starts to the life of its parent.

Five nets, since each has a hole; docs/protocol.md lists them. Armed here: a parent-death signal, the same signal in every Python
descendant (descendants/sitecustomize.py), and a guardian that ends the whole group when this worker or its parent is gone.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

PR_SET_PDEATHSIG = 1
PARENT_VARIABLE = "ASSAY_PARENT_PID"
WORKER_VARIABLE = "ASSAY_WORKER_PID"

_HERE = Path(__file__).parent


def tie_to_parent() -> None:
    """Makes this process the leader of its group, and arms all nets. SIGINT is left to the parent, which decides."""
    parent = int(os.environ.get(PARENT_VARIABLE) or os.getppid())
    die_with_parent()
    if os.getppid() != parent:
        raise SystemExit("the parent process ended before this worker started")
    if os.getpgrp() != os.getpid():
        os.setsid()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ[WORKER_VARIABLE] = str(os.getpid())
    descendants = str(_HERE / "descendants")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [descendants, os.environ.get("PYTHONPATH")]))
    start_guardian(parent, make_temporary_folder())


def make_temporary_folder() -> str:
    """A folder for everything libraries put aside, which the guardian removes however this process ends."""
    shared = tempfile.gettempdir()
    # The compiler's cache is worth keeping, also where there is no ASSAY_HOME; without this it would move into the folder.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", f"{shared}/torchinductor_{os.getuid()}")
    folder = tempfile.mkdtemp(prefix="assay-worker-")
    os.environ["TMPDIR"] = tempfile.tempdir = folder
    return folder


def die_with_parent() -> None:
    """The kernel sends SIGKILL when the parent ends. A failure is ignored: the other nets remain."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def start_guardian(parent: int, temporary_folder: str) -> None:
    command = [sys.executable, "-I", "-S", str(_HERE / "guardian.py"), str(os.getpid()), str(parent), temporary_folder]
    # Not marked as a descendant: it would have to end itself first.
    environment = {name: value for name, value in os.environ.items() if name != WORKER_VARIABLE}
    nothing = subprocess.DEVNULL
    subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, env=environment, start_new_session=True)


def end_process_group() -> None:
    """Ends this process and its descendants, at once."""
    os.killpg(os.getpgrp(), signal.SIGKILL)
