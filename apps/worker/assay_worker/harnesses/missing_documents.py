"""Documents without an answer: what a score over the others may be called, and the two numbers that stand for it.

Never one silent number: `answered_only` leaves them out, `failures_as_wrong` counts them as wrong.
"""

from collections.abc import Sequence
from typing import Any, Literal

from lm_eval.api.registry import AGGREGATION_REGISTRY
from lm_eval.api.task import Task

from assay_worker.harnesses.metric_rows import as_number
from assay_worker.protocol import Partial

Headline = Literal["whole", "partial", "waived", "withheld"]

# Above this share of documents without an answer a score says more about the failures than about the model.
MAX_MISSING_SHARE = 0.1


def judge_headline(documents: int, scored: int, missing_rows: int, waived: bool) -> Headline:
    """`missing_rows`: requests without a final result, over which a score is only ever given by a waiver."""
    if scored == documents and not missing_rows:
        return "whole"
    if scored == 0:
        return "withheld"
    if not missing_rows and documents - scored <= MAX_MISSING_SHARE * documents:
        return "partial"
    return "waived" if waived else "withheld"


def explain_withheld(documents: int, scored: int) -> str:
    if scored == 0:
        return "no document has all its answers"
    failed = documents - scored
    return (
        f"{failed} of {documents} documents have no answer, more than the {MAX_MISSING_SHARE:.0%} up to which a score over the rest "
        "is given; --waive_coverage gives it"
    )


def describe_partial(task: Task, raw: dict[tuple[str, str], list[Any]], values: dict[str, Any], counts: tuple[int, int]) -> dict[str, Partial]:
    """By lm_eval's key. `counts`: documents, and those scored. Nothing where every document is scored."""
    documents, scored = counts
    if scored == documents:
        return {}
    return {
        f"{metric},{filter_name}": Partial(
            answered=scored,
            failed=documents - scored,
            answered_only=as_number(values[f"{metric},{filter_name}"]),
            failures_as_wrong=_count_failures_as_wrong(task, metric, items, documents),
        )
        for (metric, filter_name), items in raw.items()
        if f"{metric},{filter_name}" in values
    }


def _count_failures_as_wrong(task: Task, metric: str, items: Sequence[Any], documents: int) -> float | None:
    """Only where 0 is the worst there is: a mean over values from 0 up, of which more is better."""
    is_mean = task.aggregation().get(metric) is AGGREGATION_REGISTRY["mean"]
    numbers = [as_number(item) for item in items]
    known = [number for number in numbers if number is not None and number >= 0]
    if not is_mean or task.higher_is_better().get(metric) is not True or len(known) < len(numbers):
        return None
    return sum(known) / documents
