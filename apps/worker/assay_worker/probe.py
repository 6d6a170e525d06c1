"""Proves with dummy data that the plan fits: the worst step of each request kind, in the very process that then serves.

With a preallocated KV cache the peak belongs to a step, not to a queue: the longest request of the kind with its scoring rows
on, then one decode step with as many sequences as the engine takes.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from assay_worker.engines.base import Engine, EngineRequest
from assay_worker.heartbeat import Activity
from assay_worker.memory import read_peak_bytes
from assay_worker.protocol import Failure, ProbedStep, ProbeStep
from assay_worker.seeds import draws_randomly

DECODE_PROMPT_TOKENS = 8
# A prefill and one decode step: what a longer generation adds lies in the KV cache, which is allocated already.
DECODE_TOKENS = 2

PROMPTS_PER_PART = 4096


@dataclass
class ProbeReport:
    steps: list[ProbedStep] = field(default_factory=list)
    failure: Failure | None = None

    @property
    def verdict(self) -> Literal["fits", "oom", "failed"]:
        if self.failure is None:
            return "fits"
        return "oom" if self.failure.class_ == "oom" else "failed"


@dataclass(frozen=True)
class ProbeParts:
    engine: Engine
    parameter_sets: list[dict[str, Any]]
    activity: Activity
    explain: Callable[[Exception], Failure]


def run_probe(parts: ProbeParts, steps: list[ProbeStep]) -> ProbeReport:
    """Never raises: that it does not fit is an answer. After a failure the engine's state is unknown."""
    report = ProbeReport()
    engine = parts.engine
    for number, step in enumerate(steps):
        started_at = time.monotonic()
        try:
            parts.activity.note_peak()
            engine.reset_peak()
            for batch in plan_batches(engine, step, parts.parameter_sets, number):
                run_batch(engine, batch, parts.activity)
        except Exception as error:
            report.failure = parts.explain(error)
        seconds = time.monotonic() - started_at
        report.steps.append(ProbedStep(kind=step.kind, seconds=seconds, peak_bytes=measure_peak(engine)))
        if report.failure is not None:
            return report
    engine.reset_prefix_cache()
    return report


def measure_peak(engine: Engine) -> int:
    """A dead engine does not answer; then this process's memory is what there is to tell."""
    try:
        return engine.read_peak_bytes()
    except Exception:
        return read_peak_bytes()


def plan_batches(engine: Engine, step: ProbeStep, parameter_sets: list[dict[str, Any]], number: int) -> list[list[EngineRequest]]:
    """First the longest requests, then, where the kind decodes, a full batch of short ones."""
    length = min(step.context_tokens + step.continuation_tokens, engine.limits.max_model_len - 1)
    if step.kind != "generate_until":
        return [[build_dummy(engine, step, (number, 0, place), length, {}) for place in range(step.sequences)]]
    parameters = choose_heaviest(parameter_sets)
    # The answer's room is filled with prompt, which holds the same KV blocks and takes one step instead of hundreds.
    length = min(length + max(0, step.new_tokens - DECODE_TOKENS), engine.limits.max_model_len - DECODE_TOKENS)
    longest = [build_dummy(engine, step, (number, 0, place), length, parameters) for place in range(step.sequences)]
    short = min(DECODE_PROMPT_TOKENS, length)
    decode = [build_dummy(engine, step, (number, 1, place), short, parameters) for place in range(engine.limits.max_num_seqs)]
    return [longest, decode]


def build_dummy(
    engine: Engine, step: ProbeStep, name: tuple[int, int, int], length: int, parameters: dict[str, Any]
) -> EngineRequest:
    number, part, place = name
    return EngineRequest(
        id=f"probe-{number}-{part}-{place}",
        kind=step.kind,
        tokens=spread_tokens(length, engine.limits.vocab_size, salt=(2 * number + part) * PROMPTS_PER_PART + place),
        context_tokens=max(1, length - step.continuation_tokens),
        new_token_budget=DECODE_TOKENS,
        parameters={**parameters, "ignore_eos": True, "stop": []} if parameters else {"temperature": 0, "ignore_eos": True},
        seed=0 if parameters and draws_randomly(parameters) else None,
    )


def spread_tokens(length: int, vocab_size: int, salt: int) -> list[int]:
    """Spread over the vocabulary, and with each salt another start and another stride, so that the prefix cache is of no help."""
    return [(salt + place * (104_729 + 2 * salt)) % vocab_size for place in range(length)]


def choose_heaviest(parameter_sets: list[dict[str, Any]]) -> dict[str, Any]:
    """Sampling needs memory that greedy decoding does not; the run's own set with the most of it stands for all."""
    generating = [parameters for parameters in parameter_sets if parameters]
    ignored = ("max_tokens", "min_tokens", "stop")
    sets = [{key: value for key, value in item.items() if key not in ignored} for item in generating]
    return max(sets, key=lambda item: (draws_randomly(item), len(item)), default={"temperature": 0})


def run_batch(engine: Engine, batch: list[EngineRequest], activity: Activity) -> None:
    for request in batch:
        engine.add(request)
    unfinished = len(batch)
    while unfinished:
        unfinished -= len(engine.step().answers)
        activity.steps += 1
        activity.advance()
