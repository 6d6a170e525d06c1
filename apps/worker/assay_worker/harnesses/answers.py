"""From the engine's results to what lm_eval expects of an LM: for each instance, its answers in the order of the repeats."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from assay_worker.harnesses.answer_rules import Generated, Reading, describe_thinking, read_generated
from assay_worker.harnesses.refusals import refuse_harness
from assay_worker.harnesses.session import Session, TaskPart
from assay_worker.protocol import ANSWERED_OUTCOMES, FINAL_OUTCOMES, Result


@dataclass(frozen=True)
class InstanceAnswers:
    """`readings`: one for each repeat. `lost_tokens`: what was cut of the prompt. `texts`: as the engine gave them."""

    readings: list[Reading]
    lost_tokens: int
    texts: list[str]


@dataclass(frozen=True)
class Answers:
    """`instances`: by ordinal, None where an answer is missing. `missing`: rows without a final result.
    `excluded`: lm_eval's numbers of the documents that cannot be scored."""

    instances: list[InstanceAnswers | None]
    missing: int
    excluded: set[int]


def collect_answers(session: Session, part: TaskPart, results: Iterable[Result]) -> Answers:
    by_row = _index_results(part, results)
    readers = _Readers(session)
    instances: list[InstanceAnswers | None] = []
    row = part.rows[0]
    for ordinal, instance in enumerate(part.instances):
        windows, repeats = part.counts[ordinal], instance.repeats or 1
        rows = [[by_row.get(row + window * repeats + repeat) for window in range(windows)] for repeat in range(repeats)]
        lost_tokens = max((session.lost_tokens.get(row + place, 0) for place in range(windows * repeats)), default=0)
        row += windows * repeats
        instances.append(_read_instance(readers, instance, rows, lost_tokens))
    excluded = {instance.doc_id or 0 for instance, answers in zip(part.instances, instances, strict=True) if answers is None}
    return Answers(instances, part.rows[1] - part.rows[0] - len(by_row), excluded)


def _index_results(part: TaskPart, results: Iterable[Result]) -> dict[int, Result]:
    """Only rows of this task may come; open outcomes count as missing."""
    by_row = {}
    for result in results:
        if result.task != part.number or not part.rows[0] <= result.row < part.rows[1]:
            raise refuse_harness("score", f"row {result.row} does not belong to task {part.name}")
        if result.outcome in FINAL_OUTCOMES:
            by_row[result.row] = result
    return by_row


def _read_instance(readers: "_Readers", instance: Any, rows: list[list[Result | None]], lost_tokens: int) -> InstanceAnswers | None:
    readings, texts = [], []
    for windows in rows:
        answered = [result for result in windows if result is not None and result.outcome in ANSWERED_OUTCOMES]
        if len(answered) < len(windows):
            return None
        readings.append(getattr(readers, instance.request_type)(instance, answered))
        texts += [result.text for result in answered if result.text is not None]
    return InstanceAnswers(readings, lost_tokens, texts)


class _Readers:
    """One for each type of request, under its name: the results of its windows become what lm_eval's backend returns."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._think_end_token = session.command.model_args.get("think_end_token")
        self._thinking = describe_thinking(session.command.model_args)

    def loglikelihood(self, _: Any, windows: list[Result]) -> Reading:
        (result,) = windows
        answer = (_number(result), bool(result.greedy))
        return Reading(answer, answer)

    def loglikelihood_rolling(self, _: Any, windows: list[Result]) -> Reading:
        """Summed from the first window on, as lm_eval does; an empty text has no window and the sum 0."""
        answer = sum(_number(result) for result in windows)
        return Reading(answer, answer)

    def generate_until(self, instance: Any, windows: list[Result]) -> Reading:
        (result,) = windows
        if result.text is None:
            raise refuse_harness("score", f"row {result.row} has no text")
        stops = self._session.stops[self._session.parameter_sets[result.row]]
        generated = Generated(instance.args[0], result.text, result.finish == "length", stops)
        return read_generated(generated, self._thinking, self._think_end_token)


def _number(result: Result) -> float:
    if result.logprob is None:
        raise refuse_harness("score", f"row {result.row} has no log-probability")
    return result.logprob
