"""Rows of the table: one for each metric and filter, the failed ones with the reason in place of a value."""

import math
from typing import Any

from lm_eval.api.group import Group

from assay_worker.harnesses.session import TaskPart
from assay_worker.harnesses.task_facts import read_version
from assay_worker.protocol import MetricRow


def build_task_rows(part: TaskPart, values: dict[str, Any], errors: dict[str, str]) -> list[MetricRow]:
    task = part.task
    head = {
        "task": part.name,
        "alias": str(task.get_config("task_alias") or part.name),
        "version": read_version(task),
        "num_fewshot": int(task.get_config("num_fewshot") or 0),
        "group": False,
    }
    return _build_rows(head, values, errors, _read_directions(task))


def build_group_rows(
    group: Group, shots: Any, values: dict[str, Any], errors: dict[str, str], directions: dict[str, Any]
) -> list[MetricRow]:
    head = {
        "task": group.name,
        "alias": group.alias or group.name,
        "version": group.version,
        "num_fewshot": shots if isinstance(shots, int) else " ",
        "group": True,
    }
    return _build_rows(head, values, errors, directions)


def _build_rows(head: dict[str, Any], values: dict[str, Any], errors: dict[str, str], directions: dict[str, Any]) -> list[MetricRow]:
    keys = [key for key in {**values, **errors} if "," in key and not key.partition(",")[0].endswith("_stderr")]
    rows = []
    for key in sorted(keys):
        metric, _, filter_name = key.partition(",")
        error = errors.get(key)
        direction = directions.get(metric)
        rows.append(MetricRow(
            **head,
            filter=filter_name,
            metric=metric,
            value=None if error else as_value(values[key]),
            stderr=as_stderr(values.get(f"{metric}_stderr,{filter_name}")),
            higher_is_better=direction if isinstance(direction, bool) else None,
            error=error,
        ))  # fmt: skip
    return rows


def as_value(value: Any) -> float | str | None:
    """lm_eval assumes scalars; whatever else a task returns is shown as text."""
    return None if value is None else number if (number := as_number(value)) is not None else str(value)


def as_stderr(value: Any) -> float | None:
    number = as_number(value)
    return None if number is None or math.isnan(number) else number


def as_number(value: Any) -> float | None:
    if isinstance(value, str) or value is None:
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def _read_directions(task: Any) -> dict[str, Any]:
    try:
        return dict(task.higher_is_better())
    except Exception:
        return {}
