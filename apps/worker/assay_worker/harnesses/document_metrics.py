"""The metrics of one document. Where a task's scorer raises, each metric is tried alone, so that only the faulty one is lost."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.task import Task

from assay_worker.secrets import redact_text


@dataclass
class MetricFailures:
    """The first reason by "metric,filter". A failed metric has no value at all: an average over the rest would mislead."""

    messages: dict[str, str] = field(default_factory=dict)

    def fail(self, metric: str, filter_name: str, message: str) -> None:
        self.messages.setdefault(f"{metric},{filter_name}", redact_text(message))

    def fail_all(self, task: Task, filter_names: list[str], message: str) -> None:
        for filter_name in filter_names:
            for metric in list_metrics(task):
                self.fail(metric, filter_name, message)

    def has(self, metric: str, filter_name: str) -> bool:
        return f"{metric},{filter_name}" in self.messages


def list_metrics(task: Task) -> list[str]:
    try:
        return list(task.aggregation())
    except Exception:
        return list(getattr(task, "_metric_fn_list", {}))


def compute_metrics(
    task: Task, filter_name: str, number: int, document: Any, responses: list[Any], failures: MetricFailures
) -> dict[str, Any]:
    try:
        return dict(task.process_results(document, responses))
    except Exception as error:
        message = _describe(number, error)
        functions = getattr(task, "_metric_fn_list", None)
        if not functions or callable(task.get_config("process_results")):
            failures.fail_all(task, [filter_name], message)
            return {}
    found: dict[str, Any] = {}
    for metric in functions:
        try:
            with _only(task, metric):
                found |= task.process_results(document, responses)
        except Exception as error:
            failures.fail(metric, filter_name, _describe(number, error))
    # What all metrics share (the gold answer, the choices) is to blame when each of them alone goes through.
    if found.keys() >= set(functions):
        failures.fail_all(task, [filter_name], message)
    return found


def _describe(number: int, error: Exception) -> str:
    return f"document {number}: {type(error).__name__}: {error}"


@contextmanager
def _only(task: Any, metric: str) -> Iterator[None]:
    every = task._metric_fn_list
    task._metric_fn_list = {metric: every[metric]}
    try:
        yield
    finally:
        task._metric_fn_list = every
