"""One shard attempt inside this worker: what is still to do, what is in the engine, and what was observed."""

import time
from collections import Counter, deque

from assay_worker.protocol import Batch, Result, Results, Shard, ShardDone
from assay_worker.transport import Channel

RESULTS_PER_MESSAGE = 64
RESULTS_INTERVAL_SECONDS = 0.25


class ShardRun:
    """Streams its results in batches; `shard_done` goes after the last of them."""

    def __init__(self, command: Shard, rows: list[int], channel: Channel) -> None:
        self.command = command
        self.rows = deque(rows)
        self.in_flight: set[str] = set()
        self._channel = channel
        self._pending: list[Result] = []
        self._started_at = time.monotonic()
        self._sent_at = self._started_at
        self._first_step_at = 0.0
        self._running: Counter[int] = Counter()
        self._requests = 0
        self._tokens: Counter[str] = Counter()

    @property
    def key(self) -> tuple[str, int]:
        return self.command.shard, self.command.attempt

    @property
    def is_finished(self) -> bool:
        return not self.rows and not self.in_flight

    def note_step(self, running: int, started_at_unix: float) -> None:
        self._first_step_at = self._first_step_at or started_at_unix
        self._running[running] += 1

    def note_tokens(self, prompt: int, cached: int, new: int) -> None:
        self._tokens.update(prompt=prompt, cached=cached, new=new)

    def add_result(self, result: Result) -> None:
        self._requests += 1
        self._pending.append(result)
        if len(self._pending) >= RESULTS_PER_MESSAGE:
            self.flush()

    def flush_due(self) -> None:
        if self._pending and time.monotonic() - self._sent_at >= RESULTS_INTERVAL_SECONDS:
            self.flush()

    def flush(self) -> None:
        self._sent_at = time.monotonic()
        if self._pending:
            command, self._pending, results = self.command, [], self._pending
            self._channel.send(
                Results(type="results", shard=command.shard, epoch=command.epoch, attempt=command.attempt, results=results)
            )

    def send_done(self, peak_bytes: int) -> None:
        self.flush()
        command = self.command
        self._channel.send(
            ShardDone(
                type="shard_done",
                id=command.id,
                shard=command.shard,
                epoch=command.epoch,
                attempt=command.attempt,
                requests=self._requests,
                seconds=time.monotonic() - self._started_at,
                first_step_at=self._first_step_at,
                prompt_tokens=self._tokens["prompt"],
                cached_tokens=self._tokens["cached"],
                new_tokens=self._tokens["new"],
                steps=self._running.total(),
                batch=Batch(median=find_median(self._running), max=max(self._running, default=0)),
                peak_bytes=peak_bytes,
            )
        )


def find_median(counts: Counter[int]) -> float:
    """The (lower) median of a histogram, which stays small however many steps there were."""
    half = (counts.total() + 1) // 2
    for value in sorted(counts):
        half -= counts[value]
        if half <= 0:
            return float(value)
    return 0.0
