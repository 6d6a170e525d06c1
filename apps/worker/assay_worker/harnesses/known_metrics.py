"""Metrics that a task asks for and nobody has: lm_eval notes them in its log and calls nothing later, when every answer is there."""

import difflib

from lm_eval.api.registry import metric_registry
from lm_eval.api.task import Task

from assay_worker.harnesses.refusals import refuse_task


def check_metrics(name: str, task: Task) -> list[str]:
    """A warning for each unknown one. Raises a Refusal where the task has no other, since then it could have no score at all."""
    functions = getattr(task, "_metric_fn_list", {})
    # With a function of its own for the results a task needs none by name.
    if task.OUTPUT_TYPE != "generate_until" or getattr(task.config, "process_results", None) is not None:
        return []
    unknown = [metric for metric, function in functions.items() if function is None]
    if unknown and len(unknown) == len(functions):
        raise refuse_task(name, _describe(unknown[0]))
    return [f"task {name}: {_describe(metric)}; it will have no value" for metric in unknown]


def _describe(metric: str) -> str:
    near = difflib.get_close_matches(metric, metric_registry.keys(), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"the metric {metric} is none of lm_eval's, nor could the evaluate library give it{hint}"
