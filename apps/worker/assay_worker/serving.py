"""Feeds shards to the engine and streams their results. How requests may meet in the engine is the tier of determinism.

fast: refilled to a high-water mark, across shards, so that the engine never drains. strict: one whole shard at a time, on an
empty prefix cache, all of it added before the first step. isolated: one request at a time.
"""

import time
from dataclasses import dataclass

from assay_worker.engine_requests import build_engine_request, check_tokens
from assay_worker.engines.base import Answer, Engine, RequestRefused
from assay_worker.heartbeat import Activity
from assay_worker.outcomes import build_result, read_result
from assay_worker.protocol import Determinism, Shard
from assay_worker.requests import Request, RequestFiles
from assay_worker.shard_run import ShardRun
from assay_worker.transport import Channel


@dataclass(frozen=True)
class Admission:
    """`batches_ahead`: how many engine batches are kept in the engine. `whole_shards`: only one shard, and all of it."""

    batches_ahead: int
    whole_shards: bool = False


ADMISSION: dict[Determinism, Admission] = {
    "fast": Admission(batches_ahead=2),
    "strict": Admission(batches_ahead=0, whole_shards=True),
    "isolated": Admission(batches_ahead=1),
}


@dataclass(frozen=True)
class ServingSettings:
    determinism: Determinism
    request_timeout_seconds: float
    seed: int


@dataclass(frozen=True)
class ServingParts:
    engine: Engine
    files: RequestFiles
    channel: Channel
    activity: Activity
    settings: ServingSettings


@dataclass
class InFlight:
    run: ShardRun
    request: Request
    started_at: float | None = None


class Serving:
    """The requests of the shards given to this worker, in order. `turn` does one engine step; call it while `has_work`."""

    def __init__(self, parts: ServingParts) -> None:
        self._engine = parts.engine
        self._files = parts.files
        self._channel = parts.channel
        self._activity = parts.activity
        self._settings = parts.settings
        self._admission = ADMISSION[parts.settings.determinism]
        self._shards: list[ShardRun] = []
        self._in_flight: dict[str, InFlight] = {}
        self._admitting = True

    @property
    def open_shards(self) -> list[ShardRun]:
        return self._shards

    def has_work(self) -> bool:
        return bool(self._in_flight) or (self._admitting and bool(self._shards))

    def submit(self, command: Shard) -> None:
        """Raises RequestFilesError or OSError where the shard's files are not as they should be."""
        skipped = set(command.skip)
        rows = [row for row in self._files.read_order(command.order_file, command.begin, command.end) if row not in skipped]
        self._shards.append(ShardRun(command, rows, self._channel))
        self._finish_shards()

    def cancel(self, shard: str, attempt: int) -> None:
        for run in [run for run in self._shards if run.key == (shard, attempt)]:
            self._engine.abort(list(run.in_flight))
            for request_id in run.in_flight:
                del self._in_flight[request_id]
            self._shards.remove(run)

    def stop_admitting(self) -> None:
        """What is in the engine is finished, the rest is left to others."""
        self._admitting = False

    def turn(self) -> None:
        self._admit()
        if self._in_flight:
            self._step()
            self._expire()
        for run in self._shards:
            run.flush_due()
        self._finish_shards()

    def flush(self) -> None:
        for run in self._shards:
            run.flush()

    def _admit(self) -> None:
        if not self._admitting:
            return
        if self._admission.whole_shards:
            if not self._in_flight and self._shards:
                self._engine.reset_prefix_cache()
                self._fill(self._shards[0], capacity=len(self._shards[0].rows))
            return
        high_water = self._admission.batches_ahead * self._engine.limits.max_num_seqs
        for run in self._shards:
            self._fill(run, capacity=high_water - len(self._in_flight))

    def _fill(self, run: ShardRun, capacity: int) -> None:
        while run.rows and capacity > 0:
            capacity -= self._add(run, self._files.read(run.rows.popleft()))

    def _add(self, run: ShardRun, request: Request) -> bool:
        """False where the request is refused, which ends it and touches nothing else."""
        request_id = f"{run.command.shard}-{run.command.attempt}-{request.row}"
        try:
            check_tokens(request, self._engine.limits.vocab_size)
            self._engine.add(build_engine_request(request_id, request, self._settings.seed))
        except RequestRefused as refusal:
            run.add_result(build_result(request, "rejected", message=str(refusal)))
            return False
        self._in_flight[request_id] = InFlight(run, request)
        run.in_flight.add(request_id)
        return True

    def _step(self) -> None:
        self._start_clocks()
        started_at, started_at_unix = time.monotonic(), time.time()
        report = self._engine.step()
        activity = self._activity
        activity.steps += 1
        activity.busy_seconds += time.monotonic() - started_at
        activity.running_requests, activity.waiting_requests = report.running, report.waiting
        activity.prompt_tokens += report.prompt_tokens
        activity.new_tokens += report.new_tokens
        activity.advance()
        for run in self._shards:
            if run.in_flight:
                run.note_step(report.running, started_at_unix)
        for answer in report.answers:
            self._take_answer(answer)

    def _take_answer(self, answer: Answer) -> None:
        entry = self._in_flight.pop(answer.id)
        entry.run.in_flight.discard(answer.id)
        entry.run.note_tokens(answer.prompt_tokens, answer.cached_tokens, answer.new_tokens)
        entry.run.add_result(read_result(entry.request, answer))

    def _start_clocks(self) -> None:
        """A request's time runs from when the engine can take it up, first come first served, not while it queues behind others."""
        now = time.monotonic()
        for entry, _ in zip(self._in_flight.values(), range(self._engine.limits.max_num_seqs), strict=False):
            entry.started_at = entry.started_at or now

    def _expire(self) -> None:
        deadline = time.monotonic() - self._settings.request_timeout_seconds
        late = [name for name, entry in self._in_flight.items() if entry.started_at is not None and entry.started_at < deadline]
        if not late:
            return
        self._engine.abort(late)
        for request_id in late:
            entry = self._in_flight.pop(request_id)
            entry.run.in_flight.discard(request_id)
            message = f"not finished after {self._settings.request_timeout_seconds:g} s in the engine"
            entry.run.add_result(build_result(entry.request, "timed_out", message=message))

    def _finish_shards(self) -> None:
        for run in [run for run in self._shards if run.is_finished]:
            self._shards.remove(run)
            run.send_done(self._engine.read_peak_bytes())
