"""A cache folder of `datasets` for this process alone, for data in local files.

The shared cache knows a file by path and time only, and keeps shuffles made without a seed: both hide a change of the data.
"""

import atexit
import contextlib
import fcntl
import functools
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets

from assay_worker.harnesses.environment import is_local_source

_PREFIX = "assay-datasets-"


def use_private_cache() -> None:
    """From now on, `datasets.load_dataset` reads local files through a folder that ends with this process."""
    if not hasattr(datasets.load_dataset, "__wrapped__"):
        datasets.load_dataset = _redirect(datasets.load_dataset)


def _redirect(load: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(load)
    def load_dataset(path: str, *args: Any, **kwargs: Any) -> Any:
        if kwargs.get("cache_dir") is None and is_local_source(str(path), str(kwargs.get("data_files") or "")):
            kwargs["cache_dir"] = str(_private_folder())
        return load(path, *args, **kwargs)

    return load_dataset


@functools.cache
def _private_folder() -> Path:
    _remove_abandoned()
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    lock = os.open(folder / "lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)  # held until this process ends, however it ends
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _remove_abandoned() -> None:
    """Removes folders of processes that were killed: nobody holds their lock any more."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(folder / "lock", os.O_RDWR)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
