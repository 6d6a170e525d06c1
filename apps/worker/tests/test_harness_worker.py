"""The harness worker as a process: hello, render, score, aggregate, refusals as `failed`, and a clean end."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from assay_worker.protocol import write_message
from assay_worker.requests import RequestFiles
from harness_kit import build_render

WORKER = Path(__file__).parents[1]


class Worker:
    """Speaks to one worker over its pipes; heartbeats are passed over."""

    def __init__(self) -> None:
        events, writer = os.pipe()
        start = f"import os; os.dup2({writer}, 3); os.execv({sys.executable!r}, [{sys.executable!r}, '-m', 'assay_worker', 'harness'])"
        command = [sys.executable, "-c", start]
        environment = os.environ | {"PYTHONPATH": str(WORKER)}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL, pass_fds=(writer,), env=environment)
        os.close(writer)
        self._events = os.fdopen(events, "rb")

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self._events.close()
        assert self.process.stdin is not None
        self.process.stdin.close()

    def send(self, message: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(message)
        self.process.stdin.flush()

    def read(self) -> Any:
        while line := self._events.readline():
            event = json.loads(line)
            if event["type"] != "heartbeat":
                return event
        return None


def write_line(value: Any) -> bytes:
    return json.dumps(value).encode() + b"\n"


def test_a_worker_renders_scores_and_writes_results(tmp_path: Path, demo_model: str) -> None:
    with Worker() as worker:
        hello = worker.read()
        assert (hello["type"], hello["role"], hello["packages"]["lm_eval"]) == ("hello", "harness", "0.4.13")

        worker.send(write_line({"type": "score", "id": 1, "task": 0, "waived": False, "results": []}))
        assert worker.read()["failure"]["code"] == "HARNESS_FAILED"
        worker.send(write_message(build_render(tmp_path / "requests", demo_model, tasks=["no_such_task_at_all"])))
        assert worker.read()["failure"]["code"] == "TASK_UNKNOWN"

        worker.send(write_message(build_render(tmp_path / "requests", demo_model, tasks=["fx_choice"])))
        rendered = worker.read()
        assert rendered["requests"] == RequestFiles(tmp_path / "requests").count == 32

        results = [
            {"row": row, "task": 0, "ordinal": row, "repeat": 0, "window": 0, "outcome": "ok", "logprob": -1.0 - row % 4, "greedy": False}
            for row in range(32)
        ]
        results[0]["logprob"] = "-Infinity"
        worker.send(write_line({"type": "score", "id": 2, "task": 0, "waived": False, "results": results}))
        scored = worker.read()
        assert [row["metric"] for row in scored["rows"]] == ["acc", "acc_norm"]

        command = {"type": "aggregate", "id": 3, "scoresDir": str(tmp_path / "scores"), "date": "2030-01-01T00:00:00", "logSamples": True}
        worker.send(write_line(command | {"config": {"batch_size": "auto"}, "extra": {"assay": {"run": "r"}}}))
        aggregated = worker.read()
        results_file = json.loads(Path(aggregated["resultsFile"]).read_text(), parse_constant=refuse_constant)
        assert (results_file["config"]["batch_size"], results_file["assay"]) == ("auto", {"run": "r"})

        worker.send(write_line({"type": "exit"}))
        assert worker.process.wait(30) == 0


def refuse_constant(name: str) -> Any:
    raise AssertionError(f"{name} is not JSON")
