"""vLLM itself with the demo model: answers equal lm_eval's own, tiers of determinism compared bit by bit, an OOM that start-up does not see."""

import importlib.metadata
import random
from pathlib import Path
from typing import Any

import pytest

from assay_worker.engines.base import EngineRequest
from assay_worker.heartbeat import Activity
from assay_worker.protocol import Shard
from assay_worker.requests import RequestFiles
from assay_worker.serving import Serving, ServingParts, ServingSettings
from engine_kit import (
    CPU_ENVIRONMENT,
    SMALL_ENGINE,
    RecordingChannel,
    WorkerProcess,
    generating_row,
    load_command,
    load_vllm,
    scoring_row,
    shard_command,
    write_order,
    write_requests,
)

pytestmark = pytest.mark.engine

GREEDY = {"temperature": 0.0, "max_tokens": 24, "stop": ["\n\n", "Question:"], "skip_special_tokens": False, "spaces_between_special_tokens": False}
SAMPLED = {"temperature": 1.0, "max_tokens": 12, "skip_special_tokens": False, "spaces_between_special_tokens": False}


@pytest.fixture
def engine(demo_model: str) -> Any:
    return load_vllm(demo_model)


def build_rows(count: int = 24) -> list[dict[str, Any]]:
    """Scoring rows of 5 to 300 tokens under few contexts, so that the prefix cache and chunks have something to do."""
    draw = random.Random(7)
    heads = [[draw.randrange(1000, 40_000) for _ in range(size)] for size in (3, 40, 150, 290)]
    rows = []
    for number in range(count):
        head = heads[number // 3 % len(heads)]
        rows.append(scoring_row(head, [draw.randrange(1000, 40_000) for _ in range(1 + number % 4)]))
    prompts = [[504, 3575, 282, 4649, 314], [15055, 42, 1780, 314, 216, 34, 1232, 216, 35, 47], heads[3]]
    rows += [generating_row(prompt, 24) for prompt in prompts]
    rows += [generating_row(heads[3], 12, parameter_set=2, ordinal=900, repeat=repeat) for repeat in range(2)]
    return rows


def serve(engine: Any, folder: Path, determinism: Any, shards: list[dict[str, Any]]) -> list[dict[int, Any]]:
    """Runs the shards; returns the results of each."""
    channel: Any = RecordingChannel()
    engine.reset_prefix_cache()
    serving = Serving(ServingParts(engine, RequestFiles(folder), channel, Activity(), ServingSettings(determinism, 600, seed=1234)))
    for shard in shards:
        serving.submit(Shard(**{key.replace("orderFile", "order_file"): value for key, value in shard.items()}))
    while serving.has_work():
        serving.turn()
    names = [shard["shard"] for shard in shards]
    return [{r.row: r for event in channel.events if event.type == "results" and event.shard == name for r in event.results} for name in names]


def read_bits(results: dict[int, Any]) -> dict[int, tuple[Any, ...]]:
    return {row: (result.logprob, result.greedy, result.text, result.finish) for row, result in results.items()}


def test_answers_equal_those_of_lm_evals_own_backend(engine: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The CPU build is another distribution, which that module does not ask for.
    real_version = importlib.metadata.version
    monkeypatch.setattr(importlib.metadata, "version", lambda name: "0.32.0" if name == "vllm" else real_version(name))
    from lm_eval.models.utils import postprocess_generated_text
    from lm_eval.models.vllm_causallms import VLLM
    from vllm import SamplingParams

    rows = build_rows()[:-2]
    files = RequestFiles(write_requests(tmp_path, rows, [{}, GREEDY]))
    ours = serve(engine, files.folder, "strict", [shard_command(len(rows))])[0]

    engine.reset_prefix_cache()
    llm = engine._engine
    for row in range(len(rows)):
        request = files.read(row)
        theirs = SamplingParams(temperature=0, prompt_logprobs=1, max_tokens=1, detokenize=False) if request.is_scoring else SamplingParams(**GREEDY)
        llm.add_request(str(row), {"prompt_token_ids": request.tokens}, theirs)
    outputs = {}
    while llm.has_unfinished_requests():
        outputs.update({int(output.request_id): output for output in llm.step() if output.finished})
    for row, output in outputs.items():
        request = files.read(row)
        if request.is_scoring:
            expected = VLLM._parse_logprobs(request.tokens, output, request.context_tokens)
            assert (ours[row].logprob, ours[row].greedy) == expected
        else:
            assert ours[row].text == postprocess_generated_text(output.outputs[0].text, GREEDY["stop"], None)
    assert len({ours[row].logprob for row in range(24)}) > 20, "the rows tell something"


def test_one_bad_request_fails_alone_and_the_engine_goes_on(engine: Any, tmp_path: Path) -> None:
    rows = [scoring_row([1, 2, 3], [4]), scoring_row([1, 60_000], [4]), scoring_row(list(range(1, 1100)), [4]), generating_row([5, 6], 4)]
    results = serve(engine, write_requests(tmp_path, rows, [{}, GREEDY]), "fast", [shard_command(4)])[0]
    assert [results[row].outcome for row in range(3)] == ["ok", "rejected", "rejected"]
    assert "vocabulary of 49152" in results[1].message and "1024" in results[2].message
    assert results[3].outcome in ("ok", "length")


def test_strict_reruns_are_equal_bit_by_bit(engine: Any, tmp_path: Path) -> None:
    rows = build_rows()
    folder = write_requests(tmp_path, rows, [{}, GREEDY, SAMPLED])
    half = len(rows) // 2
    shards = [shard_command(half), shard_command(len(rows), begin=half, shard="s0001", id=3)]
    first = serve(engine, folder, "strict", shards)
    serve(engine, folder, "fast", [shard_command(len(rows))])
    again = serve(engine, folder, "strict", shards[::-1])[::-1]
    assert [read_bits(results) for results in first] == [read_bits(results) for results in again]
    texts = [result.text for result in first[1].values() if result.row >= len(rows) - 2]
    assert len(set(texts)) == 2, "repeats are not copies"


def test_a_request_that_takes_too_long_leaves_the_engine(engine: Any, tmp_path: Path) -> None:
    rows = [generating_row([5, 6, 7], 900), scoring_row([1, 2, 3], [4])]
    folder = write_requests(tmp_path, rows, [{}, {"temperature": 0.0, "max_tokens": 900, "ignore_eos": True}])
    channel: Any = RecordingChannel()
    serving = Serving(ServingParts(engine, RequestFiles(folder), channel, Activity(), ServingSettings("fast", 0.5, seed=1)))
    serving.submit(Shard(**{key.replace("orderFile", "order_file"): value for key, value in shard_command(2).items()}))
    while serving.has_work():
        serving.turn()
    assert channel.results()[0].outcome == "timed_out" and channel.results()[1].outcome == "ok"
    assert engine._engine.get_num_unfinished_requests() == 0


def test_effective_is_read_back_from_the_engine(engine: Any, demo_model: str) -> None:
    effective = engine.describe()
    assert effective["numerics"]["dtype"] == "bfloat16" and effective["numerics"]["attentionBackends"] == ["CPU_ATTN"]
    assert effective["batching"]["maxNumSeqs"] == 8 and effective["batching"]["chunkedPrefill"] is True
    assert effective["cache"]["tokens"] == effective["cache"]["blocks"] * 32
    per_token = 2 * 30 * 3 * 64 * 2
    assert 0 <= 300 * 2**20 - effective["cache"]["tokens"] * per_token < 32 * per_token, "the cache has the bytes that were asked for, to a block"
    assert effective["cache"]["memoryBytes"] == 300 * 2**20
    assert effective["model"]["generationConfig"] == "vllm" and effective["model"]["vocabSize"] == 49152
    assert len(effective["model"]["digests"]["weights"]["model.safetensors"]) == 64
    assert effective["parallel"]["ranks"][0]["threads"] >= 1
    assert "VLLM_CPU_KVCACHE_SPACE" not in effective["host"]["environment"]


def test_sampling_parameters_the_engine_does_not_know_reject_the_request(engine: Any) -> None:
    from assay_worker.engines.base import RequestRefused

    with pytest.raises(RequestRefused):
        engine.add(EngineRequest("x", "generate_until", [1, 2], 2, 4, {"temprature": 1}))


def test_isolated_results_depend_on_their_request_alone(demo_model: str, tmp_path: Path) -> None:
    rows = build_rows(15)
    folder = write_requests(tmp_path, rows, [{}, GREEDY, SAMPLED])
    some = list(range(len(rows) - 1, -1, -2))
    write_order(folder, "order-2.bin", some)
    arguments = {"model": demo_model, **SMALL_ENGINE, "max_num_seqs": 1, "enable_prefix_caching": False}
    with WorkerProcess() as worker:
        worker.expect("hello")
        worker.send(load_command(folder, "vllm", engineArgs=arguments, env=CPU_ENVIRONMENT, determinism="isolated"))
        assert worker.expect("loaded", "failed").type == "loaded", worker.describe()
        everything = read_bits(worker.run_shard(len(rows)))
        subset = read_bits(worker.run_shard(len(some), orderFile="requests/order-2.bin", shard="s0001"))
        assert worker.expect("heartbeat").state in ("ready", "busy")
    assert len(everything) == len(rows)
    assert subset == {row: everything[row] for row in some}


def test_eager_scoring_needs_no_compiler(demo_model: str, tmp_path: Path) -> None:
    folder = write_requests(tmp_path, [scoring_row([1, 5, 9], [2])])
    with WorkerProcess(CXX="/nowhere/g++", TORCHINDUCTOR_CACHE_DIR=str(tmp_path / "compiled")) as worker:
        worker.expect("hello")
        worker.send(load_command(folder, "vllm", engineArgs={"model": demo_model, **SMALL_ENGINE}, env=CPU_ENVIRONMENT))
        assert worker.expect("loaded", "failed").type == "loaded", worker.describe()
        assert [result.outcome for result in worker.run_shard(1).values()] == ["ok"]
    assert not [path for path in (tmp_path / "compiled").rglob("*") if path.is_file()]


def test_ranks_are_counted_in_pieces_as_over_the_whole() -> None:
    import torch

    from assay_worker.engines.vllm_corrections import RANKED_ROWS, count_not_below

    scores = torch.randint(0, 50, (2 * RANKED_ROWS + 3, 200)).float()
    values = scores[:, 7:8]
    assert torch.equal(count_not_below(scores, values), (scores >= values).sum(-1))


def test_the_probe_finds_the_oom_that_start_up_does_not_see(demo_model: str, tmp_path: Path) -> None:
    folder = write_requests(tmp_path, [scoring_row([1], [2])])
    arguments = {"model": demo_model, "dtype": "bfloat16", "max_model_len": 8192, "enforce_eager": True, "kv_cache_memory_bytes": 2**30}
    long = {"kind": "loglikelihood", "contextTokens": 8090, "continuationTokens": 10, "newTokens": 1, "sequences": 1}
    short = {"kind": "loglikelihood", "contextTokens": 100, "continuationTokens": 10, "newTokens": 1, "sequences": 1}
    with WorkerProcess() as worker:
        worker.expect("hello")
        worker.send(load_command(folder, "vllm", engineArgs={**arguments, "max_num_batched_tokens": 4096}, env=CPU_ENVIRONMENT, addressSpaceBytes=5 * 2**30))
        assert worker.expect("loaded", "failed").type == "loaded", worker.describe()
        worker.send({"type": "probe", "id": 2, "steps": [short]})
        assert worker.expect("probed").verdict == "fits"
        worker.send({"type": "probe", "id": 3, "steps": [long]})
        probed = worker.expect("probed")
        assert (probed.verdict, probed.failure.class_, probed.failure.where) == ("oom", "oom", "logits")
        assert probed.failure.allocation_bytes == 805306368
        assert probed.peak_bytes > 2**30
