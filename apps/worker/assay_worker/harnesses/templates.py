"""The templates of a run's tasks: compiled once each, and watched for what a document lacks.

A JSON line that lacks a field reaches a template as null and would be written into the prompt as "None".
"""

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import lm_eval.utils


class MissingFieldError(Exception):
    """A template writes a field that the document does not have."""


class TemplateWatch:
    """lm_eval compiles a template for every document; here each is compiled once. The watch installed last is in force."""

    def __init__(self) -> None:
        self._is_strict = False
        self._saw_none = False
        self._compile = functools.lru_cache(maxsize=4096)(lm_eval.utils.env.from_string)

    def install(self) -> None:
        """lm_eval has one environment and one function for all of its tasks, which call it by its module."""
        lm_eval.utils.env.finalize = self._notice
        lm_eval.utils.apply_template = self._apply

    @contextmanager
    def refusing_null(self, is_strict: bool) -> Iterator[None]:
        """Inside, a null in a prompt is an error where `is_strict`."""
        self._is_strict = is_strict
        try:
            yield
        finally:
            self._is_strict = False

    def _notice(self, value: Any) -> Any:
        self._saw_none |= value is None
        return value

    def _apply(self, template: str, doc: dict[str, Any]) -> str:
        self._saw_none = False
        text: str = self._compile(template).render(**doc)
        if self._saw_none and self._is_strict:
            missing = [name for name, value in doc.items() if value is None and name in template]
            names = ", ".join(f'"{name}"' for name in missing) or "a value"
            raise MissingFieldError(f"it has no {names}, which its template {template[:80]!r} writes")
        return text
