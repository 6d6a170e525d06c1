"""The documents of a task as they are used: which ones, read once, and whether they hold what the templates ask for.

A JSON line that lacks a field reaches the templates as null and would be written into the prompt as "None".
"""

import functools
from collections.abc import Callable, Iterator
from typing import Any

import lm_eval.utils
from lm_eval.api.task import Task
from lm_eval.evaluator_utils import get_sample_size

from assay_worker.harnesses.refusals import refuse_field, refuse_value


class MissingFieldError(Exception):
    """A template writes a field that the document does not have."""


class TemplateWatch:
    """lm_eval compiles a template for every document; here each is compiled once. `strict`: a null in a prompt is an error."""

    strict = False

    def install(self) -> None:
        env = lm_eval.utils.env
        if env.finalize is None:
            env.finalize = self._notice
            env.from_string = functools.lru_cache(maxsize=4096)(env.from_string)
            lm_eval.utils.apply_template = self._apply

    def _notice(self, value: Any) -> Any:
        self._saw_none |= value is None
        return value

    def _apply(self, template: str, doc: dict[str, Any]) -> str:
        self._saw_none = False
        text: str = lm_eval.utils.env.from_string(template).render(**doc)
        if self._saw_none and self.strict:
            missing = [name for name, value in doc.items() if value is None and name in template]
            names = ", ".join(f'"{name}"' for name in missing) or "a value"
            raise MissingFieldError(f"it has no {names}, which its template {template[:80]!r} writes")
        return text

    _saw_none = False


TEMPLATES = TemplateWatch()


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
