"""SCORE: one task's answers through lm_eval's own filters, metrics and aggregation.

With every answer there the numbers are lm_eval's own, bit for bit. What fails in one metric fails that metric alone.
"""

import copy
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.instance import Instance

from assay_worker.harnesses.aggregation import aggregate_metrics
from assay_worker.harnesses.answers import collect_answers
from assay_worker.harnesses.document_metrics import MetricFailures, compute_metrics
from assay_worker.harnesses.metric_rows import build_task_rows
from assay_worker.harnesses.refusals import refuse_harness
from assay_worker.harnesses.samples import build_sample
from assay_worker.harnesses.session import Session, TaskPart, TaskScore
from assay_worker.protocol import Score, Scored

BOOTSTRAP_ITERATIONS = 100_000  # simple_evaluate's default

ByDocument = dict[int, list[Instance]]


@dataclass(frozen=True)
class FilterScoring:
    """What the filters of a task add to, one after the other. `raw`: each document's value by (metric, filter)."""

    part: TaskPart
    advance: Callable[[], None]
    raw: dict[tuple[str, str], list[Any]] = field(default_factory=lambda: defaultdict(list))
    samples: list[dict[str, Any]] = field(default_factory=list)
    failures: MetricFailures = field(default_factory=MetricFailures)


def score(session: Session, command: Score, advance: Callable[[], None]) -> Scored:
    clock = time.perf_counter()
    part = session.parts[command.task]
    answers = collect_answers(session, part, command.results)
    if answers.missing and not command.waived:
        problem = f"{answers.missing} of {part.rows[1] - part.rows[0]} requests of task {part.name} have no final result"
        raise refuse_harness("score", problem)
    complete = fill_instances(part, answers.responses, answers.excluded)
    part.score = score_instances(FilterScoring(part, advance), complete, answers.excluded)
    advance()
    return Scored(
        type="scored",
        id=command.id,
        task=command.task,
        seconds=time.perf_counter() - clock,
        rows=part.score.rows,
        documents=len(part.documents),
        scored_documents=len(part.documents) - len(answers.excluded),
    )


def fill_instances(part: TaskPart, responses: list[list[Any] | None], excluded: set[int]) -> list[Instance]:
    """The instances of documents that have all their answers, in lm_eval's order."""
    for instance, response in zip(part.instances, responses, strict=True):
        instance.resps = list(response or ())
        instance.filtered_resps = {}
    return [instance for instance in part.instances if (instance.doc_id or 0) not in excluded]


def score_instances(scoring: FilterScoring, instances: list[Instance], excluded: set[int]) -> TaskScore:
    part, failures = scoring.part, scoring.failures
    documents = [(place, document) for place, document in part.documents if place not in excluded]
    if not documents:
        failures.fail_all(part.task, list_filters(part), "no document has all its answers")
    else:
        for name in apply_filters(part, instances, failures):
            score_filter(scoring, name, group_by_document(instances), documents)
    values, sample_len = aggregate_metrics(part.task, scoring.raw, failures, BOOTSTRAP_ITERATIONS)
    rows = build_task_rows(part, values, failures.messages)
    return TaskScore(values, failures.messages, sample_len, scoring.samples, rows)


def list_filters(part: TaskPart) -> list[str]:
    return [ensemble.name for ensemble in getattr(part.task, "_filters", [])]


def apply_filters(part: TaskPart, instances: list[Instance], failures: MetricFailures) -> list[str]:
    """Each pipeline by itself. Returns the names of those that went through."""
    passed = []
    for ensemble in getattr(part.task, "_filters", []):
        try:
            ensemble.apply(instances)
            passed.append(ensemble.name)
        except Exception as error:
            failures.fail_all(part.task, [ensemble.name], f"filter {ensemble.name}: {type(error).__name__}: {error}")
    return passed


def group_by_document(instances: list[Instance]) -> ByDocument:
    """By document, and inside it by choice; equal choices keep their order."""
    found: ByDocument = defaultdict(list)
    for instance in instances:
        found[instance.doc_id or 0].append(instance)
    return {place: sorted(group, key=lambda instance: instance.idx) for place, group in found.items()}


def score_filter(scoring: FilterScoring, name: str, groups: ByDocument, documents: list[tuple[int, Any]]) -> None:
    part = scoring.part
    for place, original in documents:
        instances = groups[place]
        # A metric may change the document it is given; the next filter must see it as it was.
        document = copy.deepcopy(original)
        responses = [instance.filtered_resps[name] for instance in instances]
        number = part.numbers.get(place, place)
        metrics = compute_metrics(part.task, name, number, document, responses, scoring.failures)
        for metric, value in metrics.items():
            scoring.raw[(metric, name)].append(value)
        scoring.samples.append(build_sample(part.task, name, number, document, instances, metrics))
        scoring.advance()
