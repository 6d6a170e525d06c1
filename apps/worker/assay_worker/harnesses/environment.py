"""What must be set before the hub's libraries are imported, and the switch that keeps them off the network."""

import functools
import os
from pathlib import Path
from typing import Any

# Builders of `datasets` that read files; with local files nothing is asked of a hub.
LOCAL_BUILDERS = frozenset({"json", "csv", "parquet", "text", "arrow", "pandas", "xml"})

_QUIET = {
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
    "HF_UPDATE_DOWNLOAD_COUNTS": "0",
    "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    # Rendering encodes in batches; without this a later fork (bootstrap pools) would print a warning for each child.
    "TOKENIZERS_PARALLELISM": "true",
}


def prepare_environment() -> None:
    """Call before anything of the hub is imported. What the user has set stays."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)


def go_offline(offline: bool) -> None:
    """Both libraries copied the variable when they were imported, so it is set in them too. The user's own wish stays."""
    import datasets.config
    import huggingface_hub.constants as hub

    asked = was_offline_asked()
    wanted = offline or asked
    hub.HF_HUB_OFFLINE = wanted
    datasets.config.HF_HUB_OFFLINE = wanted
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        os.environ[name] = "1" if wanted else "0"


@functools.cache
def was_offline_asked() -> bool:
    """By the user: read before this process changes it."""
    import datasets.config

    return bool(datasets.config.HF_HUB_OFFLINE)


def is_local_data(config: dict[str, Any]) -> bool:
    """True where a task's documents come from files of this machine, by its configuration."""
    path = config.get("dataset_path")
    if path is None:
        return "class" not in config
    return is_local_source(str(path), _name_files(config))


def has_addresses(config: dict[str, Any]) -> bool:
    """True where its data files are named by addresses, which need not be the hub's."""
    return "://" in _name_files(config)


def _name_files(config: dict[str, Any]) -> str:
    return str((config.get("dataset_kwargs") or {}).get("data_files", ""))


def is_local_source(path: str, data_files: str) -> bool:
    if "://" in data_files:
        return False
    return path in LOCAL_BUILDERS or Path(path).expanduser().is_dir()
