"""From the engine's results to what lm_eval expects of an LM: for each instance, its answers in the order of the repeats."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from lm_eval.models.utils import postprocess_generated_text

from assay_worker.harnesses.refusals import refuse_harness
from assay_worker.harnesses.session import Session, TaskPart
from assay_worker.protocol import Result

# Outcomes that end a request without an answer.
_NO_ANSWER = {"rejected", "engine_error", "timed_out"}


@dataclass(frozen=True)
class Answers:
    """`responses`: by ordinal, None where an answer is missing. `missing`: rows without a final result.
    `excluded`: lm_eval's numbers of the documents that cannot be scored."""

    responses: list[list[Any] | None]
    missing: int
    excluded: set[int]


def collect_answers(session: Session, part: TaskPart, results: Iterable[Result]) -> Answers:
    by_row = _index_results(part, results)
    responses: list[list[Any] | None] = []
    row = part.rows[0]
    for ordinal, instance in enumerate(part.instances):
        windows, repeats = part.counts[ordinal], instance.repeats or 1
        rows = [[by_row.get(row + window * repeats + repeat) for window in range(windows)] for repeat in range(repeats)]
        row += windows * repeats
        responses.append(_answer(session, part, ordinal, rows))
    excluded = {
        instance.doc_id or 0 for instance, response in zip(part.instances, responses, strict=True) if response is None
    }
    return Answers(responses, part.rows[1] - part.rows[0] - len(by_row), excluded)


def _index_results(part: TaskPart, results: Iterable[Result]) -> dict[int, Result]:
    """Only rows of this task may come; open outcomes count as missing."""
    by_row = {}
    for result in results:
        if result.task != part.number or not part.rows[0] <= result.row < part.rows[1]:
            raise refuse_harness("score", f"row {result.row} does not belong to task {part.name}")
        if result.outcome in ("engine_error", "timed_out"):
            continue
        by_row[result.row] = result
    return by_row


def _answer(session: Session, part: TaskPart, ordinal: int, rows: list[list[Result | None]]) -> list[Any] | None:
    kind = part.instances[ordinal].request_type
    answers = []
    for windows in rows:
        if any(result is None or result.outcome in _NO_ANSWER for result in windows):
            return None
        answers.append(_READERS[kind](session, [result for result in windows if result is not None]))
    return answers


def _read_scoring(session: Session, windows: list[Result]) -> Any:
    (result,) = windows
    return _number(result), bool(result.greedy)


def _read_rolling(session: Session, windows: list[Result]) -> Any:
    """Summed from the first window on, as lm_eval does; an empty text has no window and the sum 0."""
    return sum(_number(result) for result in windows)


def _read_generation(session: Session, windows: list[Result]) -> Any:
    (result,) = windows
    if result.text is None:
        raise refuse_harness("score", f"row {result.row} has no text")
    stops = session.stops[session.parameter_sets[result.row]]
    return postprocess_generated_text(result.text, stops, session.command.model_args.get("think_end_token"))


def _number(result: Result) -> float:
    if result.logprob is None:
        raise refuse_harness("score", f"row {result.row} has no log-probability")
    return result.logprob


_READERS = {"loglikelihood": _read_scoring, "loglikelihood_rolling": _read_rolling, "generate_until": _read_generation}
