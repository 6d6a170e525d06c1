"""What tests of the engine worker share: a run directory with requests in it, and a worker process to talk to."""

import contextlib
import functools
import json
import os
import queue
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from assay_worker.protocol import read_message, worker_events
from assay_worker.requests import INDEX_COLUMNS, INDEX_MAGIC, INDEX_VERSION

PACKAGE_ROOT = Path(__file__).parents[1]
# Gives the descriptor its number and becomes the worker.
LAUNCH = "import os,sys;d=int(sys.argv[1]);d==3 or os.dup2(d,3);d==3 or os.close(d);"
LAUNCH += "os.execv(sys.executable,[sys.executable,'-m','assay_worker',sys.argv[2]])"
KIND_NUMBERS = {"loglikelihood": 0, "loglikelihood_rolling": 1, "generate_until": 2}


def scoring_row(context: list[int], continuation: list[int], **columns: int) -> dict[str, Any]:
    return {"kind": "loglikelihood", "tokens": [*context, *continuation], "continuationTokens": len(continuation), **columns}


def generating_row(context: list[int], budget: int, parameter_set: int = 1, **columns: int) -> dict[str, Any]:
    return {"kind": "generate_until", "tokens": context, "newTokenBudget": budget, "parameterSet": parameter_set, **columns}


def write_requests(run: Path, rows: list[dict[str, Any]], sets: list[dict[str, Any]] | None = None, order: list[int] | None = None) -> Path:
    """Writes the files of requests/ and order-1.bin; returns the requests folder."""
    folder = run / "requests"
    folder.mkdir(parents=True, exist_ok=True)
    columns: dict[str, list[int]] = {name: [] for name in INDEX_COLUMNS}
    offsets, words = [], []
    for number, row in enumerate(rows):
        offsets.append(len(words))
        words.extend(row["tokens"])
        continuation = row.get("continuationTokens", 0)
        values = {**row, "ordinal": row.get("ordinal", number), "kind": KIND_NUMBERS[row["kind"]]}
        values["contextTokens"] = len(row["tokens"]) - continuation
        for name in INDEX_COLUMNS:
            columns[name].append(int(values.get(name, 0)))
    header = INDEX_MAGIC + struct.pack("<II", INDEX_VERSION, len(rows)) + struct.pack(f"<{len(rows)}Q", *offsets)
    (folder / "index.bin").write_bytes(header + b"".join(pack_words(columns[name]) for name in INDEX_COLUMNS))
    (folder / "tokens.bin").write_bytes(pack_words(words))
    (folder / "params.json").write_text(json.dumps({"sets": sets or [{}]}))
    (folder / "order-1.bin").write_bytes(pack_words(order if order is not None else list(range(len(rows)))))
    return folder


def write_order(folder: Path, name: str, rows: list[int]) -> str:
    (folder / name).write_bytes(pack_words(rows))
    return f"requests/{name}"


def pack_words(words: list[int]) -> bytes:
    return struct.pack(f"<{len(words)}I", *words)


def load_command(folder: Path, engine: str = "simulated", **fields: Any) -> dict[str, Any]:
    return {
        "type": "load", "id": 1, "engine": engine, "requestsDir": str(folder), "engineArgs": {}, "env": {}, "scoring": "exact",
        "determinism": "fast", "requestTimeoutSeconds": 600, "seed": 1234, **fields,
    }  # fmt: skip


def shard_command(end: int, *, id: int = 2, shard: str = "s0000", **fields: Any) -> dict[str, Any]:
    return {
        "type": "shard", "id": id, "shard": shard, "epoch": 1, "attempt": 1, "orderFile": "requests/order-1.bin", "begin": 0,
        "end": end, "skip": [], **fields,
    }  # fmt: skip


CPU_ENVIRONMENT = {"VLLM_CPU_OMP_THREADS_BIND": "nobind", "TORCH_COMPILE_DISABLE": "1"}
SMALL_ENGINE = {
    "dtype": "bfloat16", "max_model_len": 1024, "max_num_seqs": 8, "max_num_batched_tokens": 256, "enforce_eager": True, "block_size": 32,
    "kv_cache_memory_bytes": 300 * 2**20,
}  # fmt: skip


@functools.cache
def load_vllm(model: str) -> Any:
    """One vLLM in the test process, shared by all tests that only compare answers."""
    from assay_worker.engines.base import LoadSpec
    from assay_worker.engines.vllm import VllmEngine

    # As a user may have it: the size in bytes wins.
    os.environ["VLLM_CPU_KVCACHE_SPACE"] = "1"
    engine = VllmEngine()
    engine.load(LoadSpec({"model": model, **SMALL_ENGINE}, CPU_ENVIRONMENT))
    return engine


class WorkerProcess:
    """A worker as Assay starts it: commands on stdin, events on fd 3, fd 1 and 2 in a log file."""

    def __init__(self, role: str = "engine", **environment: str) -> None:
        self.log = tempfile.NamedTemporaryFile(prefix="assay-worker-", suffix=".log")
        self.events: list[Any] = []
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        read_end, write_end = os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-c", LAUNCH, str(write_end), role],
            stdin=subprocess.PIPE, stdout=self.log, stderr=self.log, pass_fds=[write_end], start_new_session=True,
            env={**os.environ, "PYTHONPATH": str(PACKAGE_ROOT), **environment},
        )  # fmt: skip
        os.close(write_end)
        self._reader = threading.Thread(target=self._read_events, args=(read_end,), daemon=True)
        self._reader.start()

    def send(self, command: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()

    def expect(self, *types: str, timeout_seconds: float = 120) -> Any:
        """The next event of one of these types; what passes by stays in `events`."""
        deadline = time.monotonic() + timeout_seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.01, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {types} in {timeout_seconds} s; {self.describe()}") from None
            if line is None:
                raise AssertionError(f"the worker ended without {types}; {self.describe()}")
            event = read_message(worker_events, line)
            self.events.append(event)
            if event.type in types:
                return event

    def results(self) -> dict[int, Any]:
        return {result.row: result for event in self.events if event.type == "results" for result in event.results}

    def run_shard(self, end: int, **fields: Any) -> dict[int, Any]:
        """Sends a shard, waits for its end, and returns its results by row."""
        self.events.clear()
        self.send(shard_command(end, **fields))
        event = self.expect("shard_done", "failed")
        assert event.type == "shard_done", event.failure
        return self.results()

    def wait(self, timeout_seconds: float = 30) -> int:
        return self.process.wait(timeout_seconds)

    def read_log(self) -> str:
        return Path(self.log.name).read_text("utf-8", "replace")

    def describe(self) -> str:
        return f"exit code {self.process.poll()}, log:\n{self.read_log()[-4000:]}"

    def close(self) -> None:
        """Leaves nothing: the group is ended whatever state it is in."""
        with contextlib.suppress(BrokenPipeError):
            if self.process.stdin:
                self.process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)
        self._reader.join(10)
        self.log.close()

    def __enter__(self) -> "WorkerProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read_events(self, descriptor: int) -> None:
        with open(descriptor, "rb") as events:
            for line in events:
                self._lines.put(line)
        self._lines.put(None)


def wait_until(condition: Any, timeout_seconds: float = 10) -> bool:
    deadline = time.monotonic() + timeout_seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


class RecordingChannel:
    """Stands where the pipe would be, for tests that run the serving loop in their own process."""

    def __init__(self) -> None:
        self.events: list[Any] = []

    def send(self, message: Any) -> None:
        self.events.append(message)

    def results(self) -> dict[int, Any]:
        return {result.row: result for event in self.events if event.type == "results" for result in event.results}

    def done(self) -> list[Any]:
        return [event for event in self.events if event.type == "shard_done"]
