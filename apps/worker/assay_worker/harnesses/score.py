"""SCORE: one task's answers through lm_eval's own filters, metrics and aggregation.

With every answer there the numbers are lm_eval's own, bit for bit. What fails in one metric fails that metric alone.
"""

import copy
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from lm_eval.api.instance import Instance

from assay_worker.harnesses.aggregation import aggregate_metrics
from assay_worker.harnesses.answers import collect_answers
from assay_worker.harnesses.document_metrics import MetricFailures, compute_metrics
from assay_worker.harnesses.metric_rows import build_task_rows
from assay_worker.harnesses.refusals import Refusal
from assay_worker.harnesses.samples import build_sample
from assay_worker.harnesses.session import Session, TaskPart, TaskScore
from assay_worker.protocol import Score, Scored

BOOTSTRAP_ITERATIONS = 100_000  # simple_evaluate's default

ByDocument = dict[int, list[Instance]]
RawMetrics = dict[tuple[str, str], list[Any]]


def score(session: Session, command: Score, advance: Callable[[], None]) -> Scored:
    clock = time.perf_counter()
    part = session.parts[command.task]
    answers = collect_answers(session, part, command.results)
    if answers.missing and not command.waived:
        problem = f"{answers.missing} of {part.rows[1] - part.rows[0]} requests of task {part.name} have no final result"
        raise Refusal("HARNESS_FAILED", {"stage": "score", "problem": problem}, "unknown")
    complete = fill_instances(part, answers.responses, answers.excluded)
    part.score = score_instances(session, part, complete, answers.excluded, advance)
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


def score_instances(
    session: Session, part: TaskPart, instances: list[Instance], excluded: set[int], advance: Callable[[], None]
) -> TaskScore:
    failures = MetricFailures()
    samples: list[dict[str, Any]] = []
    raw: RawMetrics = defaultdict(list)
    documents = [(place, document) for place, document in part.documents if place not in excluded]
    if not documents:
        failures.fail_all(part.task, list_filters(part), "no document has all its answers")
    else:
        for name in apply_filters(part, instances, failures):
            score_filter(part, name, group_by_document(instances), documents, (raw, samples, failures, advance))
    values, sample_len = aggregate_metrics(part.task, raw, failures, BOOTSTRAP_ITERATIONS)
    rows = build_task_rows(part, values, failures.messages)
    return TaskScore(values, failures.messages, sample_len, samples, rows)


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


def score_filter(part: TaskPart, name: str, groups: ByDocument, documents: list[tuple[int, Any]], out: Any) -> None:
    raw, samples, failures, advance = out
    for place, original in documents:
        instances = groups[place]
        # A metric may change the document it is given; the next filter must see it as it was.
        document = copy.deepcopy(original)
        responses = [instance.filtered_resps[name] for instance in instances]
        number = part.numbers.get(place, place)
        metrics = compute_metrics(part.task, name, number, document, responses, failures)
        for metric, value in metrics.items():
            raw[(metric, name)].append(value)
        samples.append(build_sample(part.task, name, number, document, instances, metrics))
        advance()
