"""What a reader must know of the answers behind a score: marks on each sample, counts for the task. What of it is worth a warning, Node decides."""

from collections.abc import Iterable
from typing import Any

from assay_worker.harnesses.answers import InstanceAnswers
from assay_worker.protocol import AnswerTally


def mark_document(answers: list[InstanceAnswers]) -> dict[str, Any]:
    """Beside lm_eval's keys in samples_*.jsonl, and only where there is something to say. The lists are aligned with `resps`."""
    marks: dict[str, Any] = {}
    if any(one.lost_tokens for one in answers):
        marks |= {"truncated": True, "lost_tokens": [one.lost_tokens for one in answers]}
    if any(reading.thought for one in answers for reading in one.readings):
        marks["unfinished_thought"] = [[reading.thought for reading in one.readings] for one in answers]
    if any(reading.stripped for one in answers for reading in one.readings):
        marks["control_characters"] = [[reading.stripped for reading in one.readings] for one in answers]
    return {"assay": marks} if marks else {}


def count_answers(documents: Iterable[list[InstanceAnswers]]) -> AnswerTally:
    tally = dict.fromkeys(AnswerTally.model_fields, 0)
    for answers in documents:
        tally["truncated_documents"] += any(one.lost_tokens for one in answers)
        for one in answers:
            tally["generated"] += len(one.texts)
            tally["unfinished_thoughts"] += sum(reading.thought is not None for reading in one.readings)
            tally["control_characters"] += sum(reading.stripped > 0 for reading in one.readings)
            if len(one.texts) > 1:
                tally["repeated"] += 1
                tally["copied"] += len(set(one.texts)) == 1
    return AnswerTally(**tally)
