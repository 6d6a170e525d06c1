"""What the manifest says about a task: data, files, metrics, filters, parameters. Everything as it was used."""

from pathlib import Path
from typing import Any

from lm_eval.api.registry import AGGREGATION_REGISTRY, METRIC_REGISTRY
from lm_eval.api.task import Task

from assay_worker.harnesses.digests import digest_code, digest_file
from assay_worker.harnesses.stock_tasks import STOCK_FOLDER


def digest_named_files(files: list[Path]) -> dict[str, str]:
    return {_name_file(path): digest_file(path) for path in files}


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


def read_version(task: Any) -> str | int | float:
    return task.VERSION if isinstance(task.VERSION, (str, int, float)) else "N/A"
