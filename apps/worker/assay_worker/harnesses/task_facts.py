"""What the manifest says about a task: data, files, metrics, filters, parameters. Everything as it was used."""

import glob
from pathlib import Path
from typing import Any

from lm_eval.api.registry import AGGREGATION_REGISTRY, METRIC_REGISTRY
from lm_eval.api.task import Task

from assay_worker.harnesses.digests import digest_code, digest_files
from assay_worker.harnesses.stock_tasks import STOCK_FOLDER

_DATA_SUFFIXES = {".json", ".jsonl", ".csv", ".parquet", ".arrow", ".txt", ".tsv", ".gz", ".zst"}
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def list_data_files(task: Task) -> list[Path]:
    """Files on this machine that the task's configuration names as its data."""
    options = task.get_config("dataset_kwargs") or {}
    folder = Path(str(options.get("data_dir") or ""))
    named = [str(folder / name) for name in _flatten(options.get("data_files")) if "://" not in name]
    found = {Path(path) for pattern in named for path in glob.glob(str(Path(pattern).expanduser()), recursive=True)}
    source = Path(str(task.get_config("dataset_path") or "/dev/null")).expanduser()
    if not named and source.is_dir():
        found |= {path for path in source.rglob("*") if path.suffix in _DATA_SUFFIXES}
    return sorted(path for path in found if path.is_file())


def find_utf16(files: list[Path]) -> Path | None:
    for path in files:
        with path.open("rb") as file:
            if file.read(2) in _UTF16:
                return path
    return None


def _flatten(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [name for item in value.values() for name in _flatten(item)]
    return [name for item in value or [] for name in _flatten(item)]


def digest_named_files(files: list[Path]) -> dict[str, str]:
    return {_name_file(path): digest_files([path]) for path in files}


def _name_file(path: Path) -> str:
    """lm_eval's own files by their place in it, others relative to the working directory where they lie below it."""
    path = path.absolute()
    for base, prefix in ((STOCK_FOLDER, "lm_eval/tasks/"), (Path.cwd(), "")):
        if path.is_relative_to(base):
            return prefix + path.relative_to(base).as_posix()
    return path.as_posix()


def describe_metrics(task: Task) -> list[dict[str, Any]]:
    """Name, aggregation, direction, options, and a digest of the code behind them: names stay when definitions change."""
    functions = getattr(task, "_metric_fn_list", {})
    options = getattr(task, "_metric_fn_kwargs", {})
    higher = _call_table(task, "higher_is_better")
    own = task.get_config("process_results")
    described = []
    for name, aggregation in _call_table(task, "aggregation").items():
        function = own if callable(own) else functions.get(name) or type(task).process_results
        described.append({
            "metric": name,
            "aggregation": _find_name(aggregation, AGGREGATION_REGISTRY),
            "higherIsBetter": higher.get(name),
            "options": {key: repr(value) for key, value in options.get(name, {}).items()},
            "function": _find_name(function, METRIC_REGISTRY),
            "definition": digest_code(function),
            "aggregationDefinition": digest_code(aggregation),
            "scorerDefinition": digest_code(own if callable(own) else type(task).process_results),
        })  # fmt: skip
    return described


def _call_table(task: Task, name: str) -> dict[str, Any]:
    """Tasks written as classes give these tables by code that may fail; then the score says so, not the rendering."""
    try:
        return dict(getattr(task, name)())
    except Exception:
        return {}


def _find_name(function: Any, registry: Any) -> str:
    for name, known in registry.items():
        if known is function:
            return str(name)
    return str(getattr(function, "__qualname__", function))


def describe_filters(task: Task) -> list[dict[str, Any]]:
    configured = task.get_config("filter_list")
    if not configured or isinstance(configured, str):
        return [{"name": "none", "filter": [{"function": "take_first"}]}]
    return [
        {"name": pipeline["name"], "filter": [{key: _plain(value) for key, value in step.items()} for step in pipeline["filter"]]}
        for pipeline in configured
    ]


def _plain(value: Any) -> Any:
    return value if isinstance(value, (str, int, float, bool, list, dict, type(None))) else getattr(value, "__qualname__", str(value))


def find_split(task: Task) -> str:
    for key in ("test_split", "validation_split"):
        if task.get_config(key):
            return str(task.get_config(key))
    return "the task's own"
