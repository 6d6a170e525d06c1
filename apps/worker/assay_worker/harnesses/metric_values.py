"""A task's values over its documents, metric by metric, by lm_eval's own aggregation and standard errors."""

from typing import Any

from lm_eval.api.task import Task
from lm_eval.evaluator_utils import _compute_task_aggregations

from assay_worker.harnesses.document_metrics import MetricFailures

NOT_AVAILABLE = "N/A"  # lm_eval's word for a standard error that cannot be given


def aggregate_metrics(
    task: Task, raw: dict[tuple[str, str], list[Any]], failures: MetricFailures, iterations: int
) -> tuple[dict[str, Any], int]:
    """lm_eval's keys and values without the failed metrics, and the number of documents scored."""
    values: dict[str, Any] = {}
    sample_len = 0
    for (metric, filter_name), items in raw.items():
        sample_len = max(sample_len, len(items))
        if not failures.has(metric, filter_name):
            values |= _aggregate(task, (metric, filter_name), items, failures, iterations)
    return values, sample_len


def _aggregate(
    task: Task, key: tuple[str, str], items: list[Any], failures: MetricFailures, iterations: int
) -> dict[str, Any]:
    metric, filter_name = key
    try:
        return dict(_compute_task_aggregations(task, {key: items}, iterations)[0])
    except Exception as error:
        first = error
    try:
        # The value may stand although its standard error cannot be computed.
        found = dict(_compute_task_aggregations(task, {key: items}, 0)[0])
    except OverflowError:
        failures.fail(metric, filter_name, f"aggregation: too large for a float ({first})")
        return {}
    except Exception as error:
        failures.fail(metric, filter_name, f"aggregation: {type(error).__name__}: {error}")
        return {}
    return found | {f"{metric}_stderr,{filter_name}": NOT_AVAILABLE}
