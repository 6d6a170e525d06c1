"""Watches which examples lm_eval puts in front of the questions, so that the manifest can name them."""

import hashlib
import json
from dataclasses import dataclass, field
from typing import Any

from lm_eval.api.task import Task

from assay_worker.harnesses.digests import digest_document

# A default sampler draws anew for every document; beyond this many distinct examples only their digest is kept.
MAX_LISTED = 1000


@dataclass
class FewshotWatch:
    """`documents`: digests of the examples used, in order of first use."""

    documents: dict[str, None] = field(default_factory=dict)
    draws: int = 0
    _state: Any = field(default_factory=hashlib.sha256)
    _known: dict[int, str] = field(default_factory=dict)

    def attach(self, task: Task) -> None:
        sampler = getattr(task, "sampler", None)
        if sampler is None:
            return
        original = sampler.sample

        def sample(*args: Any, **kwargs: Any) -> Any:
            drawn = original(*args, **kwargs)
            self._note(drawn)
            return drawn

        sampler.sample = sample

    def _note(self, drawn: Any) -> None:
        digests = [self._digest(document) for document in drawn]
        self.draws += 1
        self.documents |= dict.fromkeys(digests)
        self._state.update(json.dumps(digests).encode())

    def _digest(self, document: Any) -> str:
        """The pool's documents live as long as the task, so their identity is a safe key."""
        if id(document) not in self._known:
            self._known[id(document)] = digest_document(document)[:16]
        return self._known[id(document)]

    def describe_rule(self, task: Task, seed: int) -> str:
        shots = task.get_config("num_fewshot") or 0
        if shots == 0:
            return "none"
        sampler = getattr(task, "sampler", None)
        if sampler is None:
            return f"{shots}, drawn by the task's own code with seed {seed}"
        rule = {"FirstNSampler": "the first of", "ContextSampler": "drawn for each document from"}.get(type(sampler).__name__)
        split = task.fewshot_cfg.split or "the task's default split"
        listed = "" if len(self.documents) <= MAX_LISTED else f", first {MAX_LISTED} listed"
        source = f"{rule or type(sampler).__name__} {split}"
        return f"{shots}, {source}, seed {seed}{listed}, sha256 of {self.draws} draws {self._state.hexdigest()}"

    def list_documents(self) -> list[str]:
        return list(self.documents)[:MAX_LISTED]
