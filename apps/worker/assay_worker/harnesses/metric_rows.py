"""Rows of the table: one for each metric and filter, the failed ones with the reason in place of a value."""

import math
from typing import Any

from assay_worker.harnesses.groups import GroupScore
from assay_worker.harnesses.session import TaskPart
from assay_worker.harnesses.task_facts import read_version
from assay_worker.protocol import MetricRow, Partial


def build_task_rows(
    part: TaskPart, values: dict[str, Any], errors: dict[str, str], partial: dict[str, Partial] | None = None
) -> list[MetricRow]:
    task = part.task
    head = {
        "task": part.name,
        "alias": str(task.get_config("task_alias") or part.name),
        "version": read_version(task),
        "num_fewshot": int(task.get_config("num_fewshot") or 0),
        "group": False,
    }
    rows = _build_rows(head, values, errors, _read_directions(task))
    return [row.model_copy(update={"partial": (partial or {}).get(f"{row.metric},{row.filter}")}) for row in rows]


def build_group_rows(score: GroupScore, shots: Any, values: dict[str, Any], directions: dict[str, Any]) -> list[MetricRow]:
    """lm_eval's number first, by the mean that the group asks for, then the other."""
    group = score.group
    head = {
        "task": group.name,
        "alias": group.alias or group.name,
        "version": group.version,
        "num_fewshot": shots if isinstance(shots, int) else " ",
        "group": True,
    }
    asked = _build_rows(head, values, score.reasons, directions)
    others = _build_rows(head, score.others, {}, directions)
    named = [row.model_copy(update={"mean": score.name_mean(row.metric, is_other)}) for rows, is_other in ((asked, False), (others, True)) for row in rows]
    return sorted(named, key=lambda row: (row.metric, row.filter))


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
