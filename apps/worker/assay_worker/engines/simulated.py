"""An engine that computes nothing: for scale and fault tests only. `effective` says so.

Answers are a function of the token ids alone, so any order, batch or number of workers gives the same results.
"""

import contextlib
import hashlib
import time
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from assay_worker.engines.base import Answer, EngineLimits, EngineRequest, LoadSpec, RequestRefused, StepReport
from assay_worker.engines.faults import Faults, Swallowed, touch_pages
from assay_worker.numeric_environment import describe_environment

# A step with nothing to do: long enough that waiting for a request that never answers does not take a core.
IDLE_STEP_SECONDS = 0.005
LIMIT_DEFAULTS = {"vocab_size": 1 << 20, "max_model_len": 4096, "max_num_seqs": 64, "max_num_batched_tokens": 2048}


@dataclass
class Sequence:
    request: EngineRequest
    prompt_left: int
    new_left: int
    new_tokens: int


class SimulatedEngine:
    """engineArgs: the four limits, enable_prefix_caching, seconds_per_token, seconds_per_step, load_seconds,
    memory {baseBytes, bytesPerToken, limitBytes, takenFile, touch} and faults (see faults.py). takenFile: names a file
    that says how many bytes of the limit others hold; without the file, none. touch: each step really takes its bytes, so
    that a limit of the kernel's is met. Others are accepted and ignored."""

    limits: EngineLimits

    def __init__(self) -> None:
        self._arguments: dict[str, Any] = {}
        self._waiting: deque[Sequence] = deque()
        self._running: list[Sequence] = []
        self._faults = Faults([])
        self._peak_bytes = 0

    def load(self, spec: LoadSpec) -> None:
        self._arguments = spec.engine_args
        self._faults = Faults(spec.engine_args.get("faults", []))
        limits = {name: int(spec.engine_args.get(name) or default) for name, default in LIMIT_DEFAULTS.items()}
        self.limits = EngineLimits(**limits, prefix_caching=bool(spec.engine_args.get("enable_prefix_caching", True)))
        memory = spec.engine_args.get("memory", {})
        self._base_bytes = int(memory.get("baseBytes", 0))
        self._bytes_per_token = int(memory.get("bytesPerToken", 0))
        self._limit_bytes = memory.get("limitBytes", spec.address_space_bytes)
        self._taken_file = memory.get("takenFile")
        self._touches = bool(memory.get("touch", False))
        self._faults.trigger("load")
        time.sleep(float(spec.engine_args.get("load_seconds", 0)))
        self._peak_bytes = self._base_bytes

    def add(self, request: EngineRequest) -> None:
        if len(request.tokens) >= self.limits.max_model_len:
            raise RequestRefused(
                f"The decoder prompt (length {len(request.tokens)}) is longer than the maximum model length of {self.limits.max_model_len}"
            )
        try:
            self._faults.trigger("add", request.row)
        except Swallowed:
            return
        digest = read_digest(request.tokens)
        new_tokens = 1 if request.kind != "generate_until" else 1 + digest[0] % max(1, request.new_token_budget)
        self._waiting.append(Sequence(request, len(request.tokens), new_tokens, new_tokens))

    def step(self) -> StepReport:
        while self._waiting and len(self._running) < self.limits.max_num_seqs:
            self._running.append(self._waiting.popleft())
        for sequence in self._running:
            self._faults.trigger("row", sequence.request.row)
        if not self._running:
            time.sleep(IDLE_STEP_SECONDS)
        open_before = self._count_open()
        tokens = self._schedule()
        self._compute_logits(tokens)
        time.sleep(float(self._arguments.get("seconds_per_step", 0)) + tokens * float(self._arguments.get("seconds_per_token", 0)))
        running = len(self._running)
        prompt_left, new_left = self._count_open()
        ended = [sequence for sequence in self._running if sequence.prompt_left == 0 and sequence.new_left == 0]
        self._running = [sequence for sequence in self._running if sequence.prompt_left or sequence.new_left]
        return StepReport(
            answers=[answer(sequence) for sequence in ended],
            running=running,
            waiting=len(self._waiting),
            prompt_tokens=open_before[0] - prompt_left,
            new_tokens=open_before[1] - new_left,
        )

    def abort(self, ids: list[str]) -> None:
        dropped = set(ids)
        self._waiting = deque(sequence for sequence in self._waiting if sequence.request.id not in dropped)
        self._running = [sequence for sequence in self._running if sequence.request.id not in dropped]

    def reset_prefix_cache(self) -> None:
        """There is none."""

    def describe(self) -> dict[str, Any]:
        return {
            "engine": "simulated",
            "simulated": True,
            "model": {"model": self._arguments.get("model"), "digests": {}, "vocabSize": self.limits.vocab_size},
            "numerics": {"dtype": "none", "seed": self._arguments.get("seed", 0)},
            "batching": {
                "maxModelLen": self.limits.max_model_len,
                "maxNumSeqs": self.limits.max_num_seqs,
                "maxNumBatchedTokens": self.limits.max_num_batched_tokens,
            },
            "cache": {"prefixCaching": self.limits.prefix_caching},
            "parallel": {"tensor": 1, "pipeline": 1, "ranks": []},
            "host": describe_environment(),
        }

    def read_peak_bytes(self) -> int:
        return self._peak_bytes

    def reset_peak(self) -> None:
        self._peak_bytes = self._base_bytes

    def _count_open(self) -> tuple[int, int]:
        """Tokens that running sequences still want: of their prompts, and new ones."""
        return sum(sequence.prompt_left for sequence in self._running), sum(sequence.new_left for sequence in self._running)

    def _schedule(self) -> int:
        """Spends the token budget on decoding first, then on prompts in order. Returns the tokens of this step."""
        budget = self.limits.max_num_batched_tokens
        for sequence in self._running:
            if sequence.prompt_left == 0 and budget > 0:
                sequence.new_left -= 1
                budget -= 1
        for sequence in self._running:
            if sequence.prompt_left and budget > 0:
                taken = min(budget, sequence.prompt_left)
                sequence.prompt_left -= taken
                budget -= taken
                if sequence.prompt_left == 0:
                    sequence.new_left -= 1
        return self.limits.max_num_batched_tokens - budget

    def _compute_logits(self, tokens: int) -> None:
        """The memory model: what a real engine allocates here is what start-up does not see."""
        needed = self._base_bytes + tokens * self._bytes_per_token
        if self._limit_bytes is not None and needed + self._read_taken() > self._limit_bytes:
            raise MemoryError(f"simulated: can't allocate memory: you tried to allocate {tokens * self._bytes_per_token} bytes.")
        if self._touches:
            touch_pages(needed)
        self._peak_bytes = max(self._peak_bytes, needed)

    def _read_taken(self) -> int:
        with contextlib.suppress(OSError, TypeError):
            return int(Path(self._taken_file).read_text("utf-8"))
        return 0


def answer(sequence: Sequence) -> Answer:
    request = sequence.request
    digest = read_digest(request.tokens)
    plain = Answer(id=request.id, prompt_tokens=len(request.tokens), new_tokens=sequence.new_tokens)
    if request.kind == "generate_until":
        finish = "length" if sequence.new_tokens >= request.new_token_budget else "stop"
        return replace(plain, text=f" {int.from_bytes(digest[1:4], 'big') % 1000}", finish=finish)
    continuation = len(request.tokens) - request.context_tokens
    return replace(plain, logprob=-continuation * (0.01 + digest[1] / 64), greedy=digest[2] < 128)


def read_digest(tokens: list[int]) -> bytes:
    return hashlib.sha256(b"".join(token.to_bytes(4, "little") for token in tokens)).digest()
