"""The data files of a task on this machine, by its configuration, and what no reader of them would say clearly."""

import glob
from pathlib import Path
from typing import Any

from assay_worker.harnesses.refusals import refuse_task

_DATA_SUFFIXES = {".json", ".jsonl", ".csv", ".parquet", ".arrow", ".txt", ".tsv", ".gz", ".zst"}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def list_data_files(dataset_path: Any, dataset_kwargs: Any) -> list[Path]:
    options = dataset_kwargs or {}
    folder = Path(str(options.get("data_dir") or ""))
    named = [str(folder / name) for name in _flatten(options.get("data_files")) if "://" not in name]
    found = {Path(path) for pattern in named for path in glob.glob(str(Path(pattern).expanduser()), recursive=True)}
    source = Path(str(dataset_path or "/dev/null")).expanduser()
    if not named and source.is_dir():
        found |= {path for path in source.rglob("*") if path.suffix in _DATA_SUFFIXES}
    return sorted(path for path in found if path.is_file())


def refuse_utf16(task: str, files: list[Path]) -> None:
    for path in files:
        with path.open("rb") as file:
            if file.read(2) in _UTF16:
                raise refuse_task(task, f"{path} is UTF-16; only UTF-8 is read")


def _flatten(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [name for item in value.values() for name in _flatten(item)]
    return [name for item in value or [] for name in _flatten(item)]
