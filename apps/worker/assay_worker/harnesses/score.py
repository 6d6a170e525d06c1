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

from assay_worker.harnesses.answer_marks import count_answers, mark_document
from assay_worker.harnesses.answers import Answers, InstanceAnswers, collect_answers
from assay_worker.harnesses.document_metrics import MetricFailures, compute_metrics
from assay_worker.harnesses.metric_rows import build_task_rows
from assay_worker.harnesses.metric_values import aggregate_metrics
from assay_worker.harnesses.missing_documents import Headline, describe_partial, explain_withheld, judge_headline
from assay_worker.harnesses.refusals import refuse_harness
from assay_worker.harnesses.samples import build_sample
from assay_worker.harnesses.session import Session, TaskPart, TaskScore
from assay_worker.protocol import Score, Scored

BOOTSTRAP_ITERATIONS = 100_000  # simple_evaluate's default

# The instances of a document as lm_eval's scorer gets them, with their answers.
Answered = tuple[Instance, InstanceAnswers]
ByDocument = dict[int, list[Answered]]


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
    counts = (len(part.documents), len(part.documents) - len(answers.excluded))
    headline = judge_headline(*counts, answers.missing, command.waived)
    groups = group_by_document(part, answers)
    part.score = score_documents(FilterScoring(part, advance), groups, headline)
    tally = count_answers([answers for _, answers in group] for group in groups.values())
    advance()
    return Scored(
        type="scored",
        id=command.id,
        task=command.task,
        seconds=time.perf_counter() - clock,
        rows=part.score.rows,
        documents=counts[0],
        scored_documents=counts[1],
        headline=headline,
        answers=tally,
    )


def group_by_document(part: TaskPart, answers: Answers) -> ByDocument:
    """Those that have all their answers; inside each by choice, and equal choices keep their order."""
    found: ByDocument = defaultdict(list)
    for instance, one in zip(part.instances, answers.instances, strict=True):
        instance.filtered_resps = {}
        if one is not None and (instance.doc_id or 0) not in answers.excluded:
            found[instance.doc_id or 0].append((instance, one))
    return {place: sorted(group, key=lambda pair: pair[0].idx) for place, group in found.items()}


def score_documents(scoring: FilterScoring, groups: ByDocument, headline: Headline) -> TaskScore:
    part, failures = scoring.part, scoring.failures
    documents = [(place, document) for place, document in part.documents if place in groups]
    if not documents:
        failures.fail_all(part.task, list_filters(part), explain_withheld(len(part.documents), 0))
    else:
        for name in apply_filters(part, groups, failures):
            score_filter(scoring, name, groups, documents)
    values, sample_len = aggregate_metrics(part.task, scoring.raw, failures, BOOTSTRAP_ITERATIONS)
    counts = (len(part.documents), len(documents))
    partial = describe_partial(part.task, scoring.raw, values, counts)
    if headline == "withheld":
        for key in partial:
            failures.messages.setdefault(key, explain_withheld(*counts))
        values = {}
    rows = build_task_rows(part, values, failures.messages, partial)
    return TaskScore(values, failures.messages, sample_len, scoring.samples, rows)


def list_filters(part: TaskPart) -> list[str]:
    return [ensemble.name for ensemble in getattr(part.task, "_filters", [])]


def apply_filters(part: TaskPart, groups: ByDocument, failures: MetricFailures) -> list[str]:
    """Each pipeline by itself, over the instances in lm_eval's order. Returns the names of those that went through."""
    answered = {id(instance): one for group in groups.values() for instance, one in group}
    instances = [instance for instance in part.instances if id(instance) in answered]
    for instance in instances:
        instance.resps = [reading.scored for reading in answered[id(instance)].readings]
    passed = []
    for ensemble in getattr(part.task, "_filters", []):
        try:
            ensemble.apply(instances)
            passed.append(ensemble.name)
        except Exception as error:
            failures.fail_all(part.task, [ensemble.name], f"filter {ensemble.name}: {type(error).__name__}: {error}")
    for instance in instances:
        instance.resps = [reading.response for reading in answered[id(instance)].readings]
    return passed


def score_filter(scoring: FilterScoring, name: str, groups: ByDocument, documents: list[tuple[int, Any]]) -> None:
    part = scoring.part
    for place, original in documents:
        instances = [instance for instance, _ in groups[place]]
        # A metric may change the document it is given; the next filter must see it as it was.
        document = copy.deepcopy(original)
        responses = [instance.filtered_resps[name] for instance in instances]
        number = part.numbers.get(place, place)
        metrics = compute_metrics(part.task, name, number, document, responses, scoring.failures)
        for metric, value in metrics.items():
            scoring.raw[(metric, name)].append(value)
        sample = build_sample(part.task, name, number, document, instances, metrics)
        scoring.samples.append(sample | mark_document([answers for _, answers in groups[place]]))
        scoring.advance()
