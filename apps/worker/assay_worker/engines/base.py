"""The port every engine implements. An engine knows token ids and answers; shards, files and messages are not its concern."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from assay_worker.protocol import RequestKind


@dataclass(frozen=True)
class EngineRequest:
    """`id` is unique among unfinished requests. `seed` None: the request is greedy or scoring, and draws nothing.
    `row` is for the log and for injected faults; a dummy request has none."""

    id: str
    kind: RequestKind
    tokens: list[int]
    context_tokens: int
    new_token_budget: int
    parameters: dict[str, Any]
    seed: int | None = None
    row: int | None = None


@dataclass(frozen=True)
class Answer:
    """What the engine said to one request. `error` is set where it gave none."""

    id: str
    prompt_tokens: int
    cached_tokens: int = 0
    new_tokens: int = 0
    logprob: float | None = None
    greedy: bool | None = None
    text: str | None = None
    finish: str | None = None
    error: str | None = None


@dataclass(frozen=True)
class StepReport:
    """`running`: sequences that took part in the step, those it finished included. Tokens are the step's own: of
    prompts (an engine may count a prompt when it is through), and new ones."""

    answers: list[Answer]
    running: int
    waiting: int
    prompt_tokens: int
    new_tokens: int


@dataclass(frozen=True)
class EngineLimits:
    """Effective, read back after the load."""

    vocab_size: int
    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    prefix_caching: bool


@dataclass(frozen=True)
class LoadSpec:
    engine_args: dict[str, Any]
    env: dict[str, str] = field(default_factory=dict)
    address_space_bytes: int | None = None


class RequestRefused(Exception):
    """The engine does not take this request; it is untouched and goes on."""


class Engine(Protocol):
    limits: EngineLimits

    def load(self, spec: LoadSpec) -> None:
        """Builds the engine. Raises whatever the engine raises; see failures.py."""

    def add(self, request: EngineRequest) -> None:
        """Queues a request. Raises RequestRefused."""

    def step(self) -> StepReport:
        """One engine step. Any exception leaves the engine in an unknown state."""

    def abort(self, ids: list[str]) -> None:
        """Drops requests; they give no answer."""

    def reset_prefix_cache(self) -> None:
        """Forgets all cached prefixes. Only between requests."""

    def describe(self) -> dict[str, Any]:
        """What is in force, read back from the engine and the process, never from the LoadSpec."""

    def read_peak_bytes(self) -> int:
        """Highest memory since the last reset, on the device where there is one."""

    def reset_peak(self) -> None: ...
