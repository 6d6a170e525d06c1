"""A result: what the engine said to one request. The line format of results/*.ndjson."""

from typing import Literal

from .base import Count, Wire, WireFloat

RequestKind = Literal["loglikelihood", "loglikelihood_rolling", "generate_until"]
REQUEST_KINDS: tuple[RequestKind, ...] = ("loglikelihood", "loglikelihood_rolling", "generate_until")
Outcome = Literal["ok", "truncated", "length", "rejected", "engine_error", "timed_out"]
# As in the table of packages/domain/src/outcomes.ts: what ends a request, and what carries an answer that a metric can use.
FINAL_OUTCOMES: frozenset[Outcome] = frozenset({"ok", "truncated", "length", "rejected"})
ANSWERED_OUTCOMES: frozenset[Outcome] = frozenset({"ok", "truncated", "length"})


class Result(Wire):
    """Log-probabilities are natural logarithms summed over the continuation's tokens."""

    row: Count
    task: Count
    ordinal: Count
    repeat: Count
    window: Count
    outcome: Outcome
    logprob: WireFloat | None = None
    greedy: bool | None = None
    text: str | None = None
    finish: Literal["stop", "length"] | None = None
    new_tokens: Count | None = None
    cached_tokens: Count | None = None
    message: str | None = None
