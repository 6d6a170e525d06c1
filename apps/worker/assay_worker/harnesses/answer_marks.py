"""What a reader must know of the answers behind a score: marks on each sample, counts for the task, warnings where they are many."""

from collections.abc import Iterable
from typing import Any

from assay_worker.harnesses.answers import InstanceAnswers
from assay_worker.protocol import AnswerTally

# Above this share of unfinished thoughts a score says more about the budget than about the model.
UNFINISHED_WARNING_SHARE = 0.05
# Above this share of documents whose repeats are all one text, repeats say no more than one answer.
COPIES_WARNING_SHARE = 0.95


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


def warn_of_answers(task: str, tally: AnswerTally) -> list[str]:
    warnings = []
    if tally.unfinished_thoughts > UNFINISHED_WARNING_SHARE * tally.generated:
        share = f"{100 * tally.unfinished_thoughts / tally.generated:.3g} %"
        warnings.append(
            f"task {task}: {share} of the answers ({tally.unfinished_thoughts} of {tally.generated}) ended inside the model's thinking "
            "and count as empty; a larger max_gen_toks lets it finish, and think_end_token keeps stop strings out of its thoughts"
        )
    if tally.control_characters:
        warnings.append(f"task {task}: {tally.control_characters} answers hold control characters, which are left out when they are scored")
    if tally.copied > COPIES_WARNING_SHARE * tally.repeated:
        warnings.append(
            f"task {task}: the repeats of {tally.copied} of {tally.repeated} requests are all the same text, so metrics over repeats say no "
            "more than one answer does; temperature and do_sample in generation_kwargs decide whether answers are drawn"
        )
    return warnings
