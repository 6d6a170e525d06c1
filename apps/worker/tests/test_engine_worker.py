"""The engine worker as a process, with the simulated engine: commands, replies, failures, exits."""

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from engine_kit import WorkerProcess, generating_row, load_command, scoring_row, shard_command, wait_until, write_requests


def start(tmp_path: Path, rows: int = 8, **load: Any) -> WorkerProcess:
    folder = write_requests(tmp_path, [scoring_row([row + 1, 2], [3]) for row in range(rows)])
    worker = WorkerProcess(ASSAY_ENGINE="simulated")
    worker.expect("hello")
    worker.send(load_command(folder, **load))
    return worker


def test_a_whole_life(tmp_path: Path) -> None:
    with start(tmp_path) as worker:
        loaded = worker.expect("loaded")
        assert loaded.effective.simulated is True and loaded.effective.determinism == "fast"
        step = {"kind": "loglikelihood", "contextTokens": 10, "continuationTokens": 2, "newTokens": 1, "sequences": 2}
        worker.send({"type": "probe", "id": 5, "steps": [step]})
        assert worker.expect("probed").verdict == "fits"
        assert sorted(worker.run_shard(8)) == list(range(8))
        heartbeat = worker.expect("heartbeat")
        assert heartbeat.steps > 0 and heartbeat.prompt_tokens == 24 and heartbeat.rss_bytes > 0
        worker.send({"type": "exit"})
        assert worker.wait() == 0
        states = [event.state for event in worker.events if event.type == "heartbeat"]
        assert "ready" in states


def test_exit_waits_for_what_is_in_the_engine(tmp_path: Path) -> None:
    arguments = {"seconds_per_step": 1.5, "max_num_seqs": 8}
    with start(tmp_path, engineArgs=arguments) as worker:
        worker.expect("loaded")
        worker.send(shard_command(8))
        while worker.expect("heartbeat").state != "busy":
            continue
        worker.send({"type": "exit"})
        assert worker.process.stdin is not None
        worker.process.stdin.close()
        worker.expect("shard_done")
        assert worker.wait() == 0 and len(worker.results()) == 8


def test_a_load_that_fails_is_answered_and_the_worker_still_obeys(tmp_path: Path) -> None:
    with start(tmp_path, engineArgs={"faults": [{"at": "load", "do": "raise", "text": "No available memory for the cache blocks"}]}) as worker:
        failed = worker.expect("failed", "loaded")
        assert (failed.type, failed.id, failed.failure.class_) == ("failed", 1, "kv_zero")
        worker.send(shard_command(8))
        assert worker.expect("failed").id == 2
        worker.send({"type": "exit"})
        assert worker.wait() == 0


def test_isolated_is_refused_where_the_limits_do_not_give_it(tmp_path: Path) -> None:
    with start(tmp_path, determinism="isolated", engineArgs={"max_num_seqs": 2}) as worker:
        failed = worker.expect("failed", "loaded")
        assert failed.type == "failed" and "max_num_seqs=1" in failed.failure.message


def test_after_a_failed_probe_nothing_is_served(tmp_path: Path) -> None:
    with start(tmp_path, engineArgs={"memory": {"baseBytes": 0, "bytesPerToken": 100, "limitBytes": 500}}) as worker:
        worker.expect("loaded")
        step = {"kind": "loglikelihood", "contextTokens": 10, "continuationTokens": 2, "newTokens": 1, "sequences": 1}
        worker.send({"type": "probe", "id": 5, "steps": [step]})
        probed = worker.expect("probed")
        assert (probed.verdict, probed.failure.where, probed.failure.allocation_bytes) == ("oom", "logits", 1200)
        worker.send(shard_command(8))
        assert worker.expect("failed", "shard_done").type == "failed"


def test_a_failure_in_a_step_fails_every_open_shard_after_the_results_so_far(tmp_path: Path) -> None:
    fault = {"at": "row", "row": 5, "do": "raise", "text": "RPC call to execute_model timed out."}
    with start(tmp_path, engineArgs={"max_num_seqs": 2, "faults": [fault]}) as worker:
        worker.expect("loaded")
        worker.send(shard_command(6))
        worker.send(shard_command(8, begin=6, shard="s0001", id=3))
        failures = [worker.expect("failed"), worker.expect("failed")]
        assert [(failed.id, failed.failure.class_) for failed in failures] == [(2, "hang"), (3, "hang")]
        assert worker.wait() == 1
        assert sorted(worker.results()) == [0, 1, 2, 3]


def test_evidence_in_the_log_counts(tmp_path: Path) -> None:
    faults = [
        {"at": "row", "row": 0, "do": "stderr", "text": "(EngineCore pid=9) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"},
        {"at": "row", "row": 0, "do": "raise", "text": "EngineDeadError: EngineCore encountered an issue."},
    ]
    with start(tmp_path, engineArgs={"faults": faults}) as worker:
        worker.expect("loaded")
        worker.send(shard_command(8))
        failure = worker.expect("failed").failure
        assert (failure.class_, failure.allocation_bytes) == ("oom", 2 * 2**30)


@pytest.mark.parametrize(("fault", "code"), [({"do": "exit", "code": 7}, 7), ({"do": "kill"}, -signal.SIGKILL)])
def test_faults_strike_once_where_they_have_a_marker(tmp_path: Path, fault: dict[str, Any], code: int) -> None:
    strike = {"at": "row", "row": 3, "marker": str(tmp_path / "struck"), **fault}
    with start(tmp_path, engineArgs={"faults": [strike]}) as worker:
        worker.expect("loaded")
        worker.send(shard_command(8))
        assert worker.wait() == code
    with start(tmp_path, engineArgs={"faults": [strike]}) as worker:
        worker.expect("loaded")
        assert len(worker.run_shard(8)) == 8


def test_a_hang_shows_as_life_without_progress(tmp_path: Path) -> None:
    with start(tmp_path, engineArgs={"faults": [{"at": "row", "row": 0, "do": "hang"}]}) as worker:
        worker.expect("loaded")
        worker.send(shard_command(8))
        beats = [worker.expect("heartbeat") for _ in range(4)][1:]
        assert {beat.state for beat in beats} == {"busy"} and len({beat.progress for beat in beats}) == 1
        os.killpg(worker.process.pid, signal.SIGKILL)
        assert worker.wait() == -signal.SIGKILL


def test_a_command_of_another_protocol_ends_it_with_the_reason(tmp_path: Path) -> None:
    with start(tmp_path) as worker:
        worker.expect("loaded")
        worker.send({"type": "restart"})
        assert worker.wait() != 0
        assert wait_until(lambda: "not a command of this protocol" in worker.read_log())


def test_a_timed_out_request_does_not_stop_the_shard(tmp_path: Path) -> None:
    rows = [generating_row([1, 2], 4000), scoring_row([3], [4])]
    folder = write_requests(tmp_path, rows, [{}, {"temperature": 0}])
    with WorkerProcess(ASSAY_ENGINE="simulated") as worker:
        worker.expect("hello")
        worker.send(load_command(folder, requestTimeoutSeconds=0.1, engineArgs={"seconds_per_step": 0.05}))
        results = worker.run_shard(2)
        assert [results[row].outcome for row in (0, 1)] == ["timed_out", "ok"]
