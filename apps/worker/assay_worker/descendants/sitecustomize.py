"""Runs in every Python process below a worker (it is on their PYTHONPATH): each ends when its own parent ends."""

import contextlib
import ctypes
import importlib.util
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def _run_shadowed_customisation() -> None:
    """An environment may have a sitecustomize of its own, which this one hides."""
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in sys.path:
        path = os.path.join(folder, "sitecustomize.py")
        if os.path.abspath(folder or ".") != here and os.path.isfile(path):
            spec = importlib.util.spec_from_file_location("sitecustomize", path)
            if spec and spec.loader:
                spec.loader.exec_module(importlib.util.module_from_spec(spec))
            return


# A resource tracker has work to do when its parent has died, and then ends by itself.
if not any("resource_tracker" in argument for argument in sys.orig_argv):
    with contextlib.suppress(Exception):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
_run_shadowed_customisation()
