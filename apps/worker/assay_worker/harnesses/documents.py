"""The documents of a task as they are used: which ones, read once, and whether they hold the fields its configuration names."""

from collections.abc import Callable, Iterator
from typing import Any

from lm_eval.api.task import Task
from lm_eval.evaluator_utils import get_sample_size

from assay_worker.harnesses.refusals import refuse_field, refuse_value


def read_documents(task: Task, name: str, limit: float | None, samples: dict[str, list[int]] | None) -> list[tuple[int, Any]]:
    """(lm_eval's number, document) of those asked for; freezes them, so that rendering and scoring see the same ones."""
    chosen = choose_samples(task, name, samples)
    documents = list(task.doc_iterator(rank=0, limit=get_sample_size(task, limit), samples=chosen, world_size=1))
    task.doc_iterator = _freeze(documents)
    return documents


def _freeze(documents: list[tuple[int, Any]]) -> Callable[..., Iterator[tuple[int, Any]]]:
    return lambda **_: iter(documents)


def choose_samples(task: Task, name: str, samples: dict[str, list[int]] | None) -> list[int] | None:
    """Sorted, since lm_eval walks the documents in order whatever the order of the list."""
    if samples is None or name not in samples:
        return None
    chosen = sorted(set(samples[name]))
    total = len(task.eval_docs)
    if not chosen:
        raise refuse_value("samples", name, "the list is empty")
    if chosen[-1] >= total:
        raise refuse_value("samples", name, f"document {chosen[-1]} does not exist; the task has {total}")
    return chosen


def check_fields(task: Task, name: str, documents: list[tuple[int, Any]], number: Callable[[int], int]) -> None:
    """Refuses null where the configuration names a field itself; templates are watched while they are rendered."""
    features = getattr(task, "features", None)
    if features is None:
        return
    wanted = [getattr(task.config, key, None) for key in ("doc_to_text", "doc_to_target", "doc_to_choice")]
    columns = [column for column in wanted if isinstance(column, str) and column in features]
    for place, document in documents:
        for column in columns:
            if document.get(column) is None:
                raise refuse_field(name, number(place), f'it has no "{column}"')
