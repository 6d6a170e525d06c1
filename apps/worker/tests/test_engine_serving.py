"""The serving loop on the simulated engine: admission by tier, refusals, time limits, cancels, drains."""

from pathlib import Path
from typing import Any

import pytest

from assay_worker.engines.base import EngineRequest, LoadSpec, StepReport
from assay_worker.engines.simulated import SimulatedEngine
from assay_worker.heartbeat import Activity
from assay_worker.protocol import Determinism, Shard
from assay_worker.requests import RequestFiles, RequestFilesError
from assay_worker.serving import Serving, ServingParts, ServingSettings
from engine_kit import RecordingChannel, generating_row, scoring_row, shard_command, write_order, write_requests


class WatchedEngine(SimulatedEngine):
    """Notes what is done to it."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []
        self.most_unfinished = 0
        self.seeds: list[int | None] = []

    def add(self, request: EngineRequest) -> None:
        super().add(request)
        self.log.append(f"add {request.id}")
        self.seeds.append(request.seed)
        self.most_unfinished = max(self.most_unfinished, len(self._waiting) + len(self._running))

    def step(self) -> StepReport:
        self.log.append("step")
        return super().step()

    def reset_prefix_cache(self) -> None:
        self.log.append("reset")


class Desk:
    """A serving loop with everything around it."""

    def __init__(self, folder: Path, determinism: Determinism = "fast", timeout: float = 600, **arguments: Any) -> None:
        self.engine = WatchedEngine()
        self.engine.load(LoadSpec(arguments))
        self.channel = RecordingChannel()
        self.activity = Activity()
        settings = ServingSettings(determinism, timeout, seed=1234)
        channel: Any = self.channel
        self.serving = Serving(ServingParts(self.engine, RequestFiles(folder), channel, self.activity, settings))

    def submit(self, end: int, **fields: Any) -> None:
        command = {key.replace("orderFile", "order_file"): value for key, value in shard_command(end, **fields).items()}
        self.serving.submit(Shard(**command))

    def run(self) -> dict[int, Any]:
        while self.serving.has_work():
            self.serving.turn()
        return self.channel.results()


def scoring_rows(count: int) -> list[dict[str, Any]]:
    return [scoring_row([row + 1, 2, 3], [4 + row % 3]) for row in range(count)]


def test_fast_keeps_two_batches_in_the_engine_across_shards(tmp_path: Path) -> None:
    desk = Desk(write_requests(tmp_path, scoring_rows(20)), max_num_seqs=4, max_num_batched_tokens=16)
    desk.submit(10)
    desk.submit(20, begin=10, shard="s0001", id=3)
    assert len(desk.run()) == 20
    assert desk.engine.most_unfinished == 8
    assert "reset" not in desk.engine.log
    # The second shard's first request is in the engine before the first shard's end: the engine never drains.
    first_of_second = desk.engine.log.index("add s0001-1-10")
    assert desk.engine.log[first_of_second:].count("step") == len(desk.engine.log[first_of_second:]) - 10
    assert [(done.shard, done.id, done.requests, done.batch.max) for done in desk.channel.done()] == [("s0000", 2, 10, 4), ("s0001", 3, 10, 4)]


def test_strict_runs_one_whole_shard_at_a_time_on_an_empty_prefix_cache(tmp_path: Path) -> None:
    desk = Desk(write_requests(tmp_path, scoring_rows(12)), "strict", max_num_seqs=2, max_num_batched_tokens=8)
    desk.submit(6)
    desk.submit(12, begin=6, shard="s0001", id=3)
    desk.run()
    log = [entry.split()[0] for entry in desk.engine.log]
    assert log[:8] == ["reset", *["add"] * 6, "step"]
    second = log.index("reset", 1)
    assert log[second : second + 8] == ["reset", *["add"] * 6, "step"]
    assert set(log[7:second]) == {"step"}


def test_isolated_has_one_request_in_the_engine(tmp_path: Path) -> None:
    desk = Desk(write_requests(tmp_path, scoring_rows(5)), "isolated", max_num_seqs=1, enable_prefix_caching=False)
    desk.submit(5)
    assert len(desk.run()) == 5
    assert desk.engine.most_unfinished == 1


def test_one_refused_request_fails_alone(tmp_path: Path) -> None:
    rows = scoring_rows(6)
    rows[1]["tokens"] = [1, 2, 999, 4]
    rows[2]["tokens"] = list(range(50))
    rows[3] = scoring_row([], [5])
    faults = [{"at": "add", "row": 4, "do": "refuse", "text": "not this one"}]
    desk = Desk(write_requests(tmp_path, rows), vocab_size=500, max_model_len=32, faults=faults)
    desk.submit(6)
    results = desk.run()
    assert [results[row].outcome for row in range(6)] == ["ok", "rejected", "rejected", "rejected", "rejected", "ok"]
    assert "vocabulary of 500" in results[1].message and "maximum model length" in results[2].message
    assert "no context token" in results[3].message and results[4].message == "not this one"
    assert desk.channel.done()[0].requests == 6


def test_a_shard_of_refused_requests_only_still_ends(tmp_path: Path) -> None:
    desk = Desk(write_requests(tmp_path, [scoring_row([7, 7], [7])]), vocab_size=5)
    desk.submit(1)
    assert desk.run()[0].outcome == "rejected"
    assert desk.channel.done()[0].steps == 0


def test_skipped_rows_are_not_run_and_a_shard_without_rows_ends_at_once(tmp_path: Path) -> None:
    desk = Desk(write_requests(tmp_path, scoring_rows(4)))
    desk.submit(4, skip=[0, 2])
    assert sorted(desk.run()) == [1, 3]
    desk.submit(2, skip=[0, 1], shard="s0001", id=9)
    assert desk.channel.done()[-1].id == 9 and not desk.serving.has_work()


def test_outcomes_say_what_became_of_the_answer(tmp_path: Path) -> None:
    rows = [scoring_row([1, 2], [3], truncatedTokens=4), generating_row([1, 2], budget=1), generating_row([5, 6], budget=1, truncatedTokens=1)]
    desk = Desk(write_requests(tmp_path, rows, [{}, {"max_tokens": 1, "temperature": 0}]))
    desk.submit(3)
    results = desk.run()
    assert [results[row].outcome for row in range(3)] == ["truncated", "length", "truncated"]
    assert (results[1].finish, results[2].finish) == ("length", "length")
    assert isinstance(results[0].logprob, float) and results[1].logprob is None


def test_a_request_that_takes_too_long_is_dropped_and_the_others_go_on(tmp_path: Path) -> None:
    rows = [generating_row([1] * 3, budget=4000), *scoring_rows(3)]
    desk = Desk(write_requests(tmp_path, rows, [{}, {"temperature": 0}]), timeout=0.05, max_num_seqs=2, seconds_per_step=0.02)
    desk.submit(4)
    results = desk.run()
    assert [results[row].outcome for row in range(4)] == ["timed_out", "ok", "ok", "ok"]
    assert "0.05 s" in results[0].message
    assert not desk.engine._running


def test_waiting_behind_others_does_not_count_as_taking_long(tmp_path: Path) -> None:
    desk = Desk(write_requests(tmp_path, scoring_rows(12)), "strict", timeout=0.2, max_num_seqs=1, seconds_per_step=0.05)
    desk.submit(12)
    assert {result.outcome for result in desk.run().values()} == {"ok"}


def test_a_canceled_shard_leaves_the_engine_and_has_no_end(tmp_path: Path) -> None:
    desk = Desk(write_requests(tmp_path, scoring_rows(8)), max_num_seqs=1)
    desk.submit(4)
    desk.submit(8, begin=4, shard="s0001", id=3)
    desk.serving.turn()
    desk.serving.cancel("s0000", 1)
    desk.serving.cancel("s0000", 7)
    desk.run()
    assert [done.shard for done in desk.channel.done()] == ["s0001"]
    assert {4, 5, 6, 7} <= set(desk.channel.results())


def test_a_drain_finishes_what_is_in_the_engine_and_nothing_else(tmp_path: Path) -> None:
    desk = Desk(write_requests(tmp_path, scoring_rows(10)), max_num_seqs=2, max_num_batched_tokens=8)
    desk.submit(10)
    desk.serving.turn()
    desk.serving.stop_admitting()
    desk.run()
    desk.serving.flush()
    assert len(desk.channel.results()) == 4 and desk.channel.done() == []


def test_repeats_are_drawn_with_seeds_of_their_own_and_greedy_ones_with_none(tmp_path: Path) -> None:
    rows = [generating_row([1, 2], 4, parameter_set=1, ordinal=0, repeat=repeat) for repeat in range(3)]
    rows += [generating_row([1, 2], 4, parameter_set=2), scoring_row([1], [2])]
    rows += [generating_row([1, 2], 4, parameter_set=number, ordinal=0) for number in (3, 4)]
    sets = [{}, {"temperature": 1.0}, {"temperature": 0}, {"temperature": 1.0, "seed": 7}, {"temperature": 1.0, "seed": 0}]
    desk = Desk(write_requests(tmp_path, rows, sets))
    desk.submit(7)
    desk.run()
    *repeats, greedy, scoring, explicit, zero = desk.engine.seeds
    assert None not in repeats and len({*repeats, explicit, zero}) == 5, "a seed of 0 is one too"
    assert greedy is None and scoring is None


def test_results_do_not_depend_on_order_or_tier(tmp_path: Path) -> None:
    folder = write_requests(tmp_path, scoring_rows(30))
    backwards = write_order(folder, "order-2.bin", list(range(29, -1, -1)))
    desk = Desk(folder, max_num_seqs=3)
    desk.submit(30)
    other = Desk(folder, "strict", max_num_seqs=7)
    other.submit(30, orderFile=backwards)
    scores = [{row: (result.logprob, result.greedy) for row, result in each.run().items()} for each in (desk, other)]
    assert scores[0] == scores[1]


def test_results_come_in_batches_and_counters_add_up(tmp_path: Path) -> None:
    desk = Desk(write_requests(tmp_path, scoring_rows(200)), max_num_seqs=256, max_num_batched_tokens=8000)
    desk.submit(200)
    desk.run()
    sizes = [len(event.results) for event in desk.channel.events if event.type == "results"]
    assert max(sizes) <= 64 and sum(sizes) == 200
    assert desk.channel.events[-1].type == "shard_done"
    done = desk.channel.done()[0]
    assert (done.prompt_tokens, done.new_tokens, desk.activity.prompt_tokens, desk.activity.steps) == (800, 200, 800, done.steps)
    assert done.first_step_at > 0 and done.batch.median == done.batch.max == 200


def test_a_range_outside_the_order_file_is_refused(tmp_path: Path) -> None:
    desk = Desk(write_requests(tmp_path, scoring_rows(2)))
    with pytest.raises(RequestFilesError):
        desk.submit(3)
    assert not desk.serving.has_work()
