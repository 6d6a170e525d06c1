"""What is recorded of the machine and the model, and how the worker sits on it."""

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from assay_worker.affinity import parse_cores
from assay_worker.digests import WeightDigests, digest_weights
from assay_worker.load_watch import LoadWatch
from assay_worker.memory import list_tree, read_peak_bytes, read_resident_bytes
from assay_worker.numeric_environment import describe_environment, read_numeric_variables


def test_records_variables_that_change_numbers_and_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {
        "OMP_NUM_THREADS": "1", "VLLM_USE_V2_MODEL_RUNNER": "1", "CUBLAS_WORKSPACE_CONFIG": ":4096:8", "HOME": "/root",
        "VLLM_API_KEY": "secret", "VLLM_HUB_TOKEN": "secret", "NVIDIA_PASSWORD": "secret",
        "VLLM_DIST_IDENT": "vllm_dist_1", "ASSAY_CPU_AFFINITY": "0", "PATH": "/bin",
    })  # fmt: skip
    assert list(read_numeric_variables()) == ["ASSAY_CPU_AFFINITY", "CUBLAS_WORKSPACE_CONFIG", "OMP_NUM_THREADS", "VLLM_USE_V2_MODEL_RUNNER"]


LIMITS = ["VLLM_MAX_TOKENS_PER_EXPERT_FP4_MOE", "VLLM_SHARED_EXPERTS_STREAM_TOKEN_THRESHOLD", "VLLM_MULTI_STREAM_GEMM_TOKEN_THRESHOLD"]


@pytest.mark.parametrize("name", LIMITS)
def test_a_limit_in_tokens_is_no_secret(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "256")
    assert read_numeric_variables()[name] == "256"


def test_describes_the_machine() -> None:
    environment = describe_environment()
    assert environment["processor"]["count"] == os.cpu_count() and environment["processor"]["model"]
    assert environment["libraries"]["numpy"] and environment["affinity"]


@pytest.mark.parametrize(("text", "cores"), [("", set()), ("0", {0}), ("0,2-4", {0, 2, 3, 4}), (" 1 , 3 ", {1, 3})])
def test_parses_lists_of_cores(text: str, cores: set[int]) -> None:
    assert parse_cores(text) == cores


def test_hashes_weights_once_for_all_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    model = tmp_path / "model"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"weights")
    (model / "pytorch_model.bin").write_bytes(b"not loaded where there are safetensors")
    expected = {"model.safetensors": hashlib.sha256(b"weights").hexdigest()}
    assert digest_weights(model) == expected
    cache = (tmp_path / "weight-digests.json").read_text()
    assert expected["model.safetensors"] in cache
    (tmp_path / "weight-digests.json").write_text(cache.replace(expected["model.safetensors"], "remembered"))
    assert digest_weights(model) == {"model.safetensors": "remembered"}
    (model / "model.safetensors").write_bytes(b"other weights")
    assert digest_weights(model) == {"model.safetensors": hashlib.sha256(b"other weights").hexdigest()}


def test_digests_name_the_files_there_are(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "tokenizer.json").write_text("{}")
    digests = WeightDigests.start(str(tmp_path), None).wait()
    assert digests["configDigest"] == hashlib.sha256(b"{}").hexdigest() and digests["generationConfigDigest"] is None
    assert list(digests["tokenizerFiles"]) == ["tokenizer.json"] and digests["weights"] == {}
    assert "problem" in WeightDigests.start("nobody/nothing", None).wait()


def test_memory_counts_descendants_but_no_page_twice() -> None:
    before = read_resident_bytes()
    child = subprocess.Popen([sys.executable, "-c", "x=bytearray(50_000_000);print(1,flush=True);input()"], stdin=-1, stdout=-1)
    assert child.stdout is not None
    child.stdout.readline()
    assert child.pid in list_tree()
    assert 40_000_000 < read_resident_bytes() - before < 120_000_000
    assert read_peak_bytes() >= read_resident_bytes() - 1_000_000
    child.communicate(b"\n")
    twin = os.fork()
    if twin == 0:
        time.sleep(60)
        os._exit(0)
    try:
        assert twin not in list_tree(), "a fork shares its parent's pages"
    finally:
        os.kill(twin, 9)
        os.waitpid(twin, 0)


def test_a_load_moves_while_it_allocates_and_stands_still_when_it_waits() -> None:
    watch = LoadWatch()
    assert watch.has_moved()
    for _ in range(20):
        if not watch.has_moved():
            break
        time.sleep(0.05)
    assert not watch.has_moved()
    held = bytearray(os.urandom(8 << 20))
    assert watch.has_moved() and held
