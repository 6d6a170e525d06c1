"""The probe on the simulated engine, whose memory model is known."""

from pathlib import Path
from typing import Any

from assay_worker.engines.base import EngineRequest, LoadSpec
from assay_worker.engines.simulated import SimulatedEngine
from assay_worker.failures import classify_exception
from assay_worker.heartbeat import Activity
from assay_worker.probe import ProbeParts, ProbeReport, choose_heaviest, plan_batches, run_probe, spread_tokens
from assay_worker.protocol import ProbeStep

MIB = 2**20
SCORING = ProbeStep(kind="loglikelihood", context_tokens=90, continuation_tokens=10, new_tokens=1, sequences=2)
GENERATING = ProbeStep(kind="generate_until", context_tokens=60, continuation_tokens=0, new_tokens=20, sequences=1)
SETS: list[dict[str, Any]] = [{}, {"max_tokens": 9, "temperature": 0, "stop": ["\n"]}, {"temperature": 0.8, "top_p": 0.9}]


def load(**memory: int | str) -> SimulatedEngine:
    engine = SimulatedEngine()
    engine.load(LoadSpec({"max_num_seqs": 4, "max_num_batched_tokens": 256, "max_model_len": 128, "vocab_size": 1000, "memory": memory}))
    return engine


def probe(engine: SimulatedEngine, *steps: ProbeStep, activity: Activity | None = None) -> ProbeReport:
    return run_probe(ProbeParts(engine, SETS, activity or Activity(), classify_exception), list(steps))


def test_measures_the_peak_of_each_step() -> None:
    report = probe(load(baseBytes=100 * MIB, bytesPerToken=MIB), SCORING, GENERATING)
    assert report.verdict == "fits"
    # Two prompts of 100 tokens in one step; one of 78 (context and budget less the two that are generated).
    assert [step.peak_bytes // MIB for step in report.steps] == [300, 178]


def test_that_it_does_not_fit_is_an_answer() -> None:
    activity = Activity()
    report = probe(load(baseBytes=100 * MIB, bytesPerToken=MIB, limitBytes=250 * MIB), GENERATING, SCORING, activity=activity)
    assert report.verdict == "oom" and report.failure is not None
    assert (report.failure.where, report.failure.allocation_bytes) == ("logits", 200 * MIB)
    assert [step.kind for step in report.steps] == ["generate_until", "loglikelihood"]
    assert activity.progress > 0


def test_memory_that_others_take_meanwhile_is_missing(tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    engine = load(bytesPerToken=MIB, limitBytes=250 * MIB, takenFile=str(taken))
    assert probe(engine, SCORING).verdict == "fits"
    taken.write_text(str(100 * MIB), "utf-8")
    assert probe(engine, SCORING).verdict == "oom"


def test_any_other_failure_is_told_apart() -> None:
    engine: Any = load()
    engine.step = lambda: (_ for _ in ()).throw(RuntimeError("CUDA error: device-side assert"))
    engine.read_peak_bytes = lambda: 1 // 0
    report = probe(engine, SCORING)
    assert report.verdict == "failed" and report.failure is not None and report.failure.class_ == "device"


def test_a_generating_kind_also_decodes_a_full_batch_with_its_own_sampling() -> None:
    longest, decode = plan_batches(load(), GENERATING, SETS, number=0)
    assert [len(request.tokens) for request in longest] == [78]
    assert [len(request.tokens) for request in decode] == [8] * 4
    assert decode[0].parameters == {"temperature": 0.8, "top_p": 0.9, "ignore_eos": True, "stop": []} and decode[0].seed is not None


def test_prompts_stay_in_the_window() -> None:
    huge = ProbeStep(kind="generate_until", context_tokens=120, continuation_tokens=0, new_tokens=50, sequences=1)
    assert len(plan_batches(load(), huge, SETS, 0)[0][0].tokens) == 126
    scoring = ProbeStep(kind="loglikelihood", context_tokens=128, continuation_tokens=1, new_tokens=1, sequences=1)
    assert len(plan_batches(load(), scoring, SETS, 0)[0][0].tokens) == 127


def test_no_two_dummy_prompts_begin_alike() -> None:
    requests: list[EngineRequest] = [request for batch in plan_batches(load(), GENERATING, SETS, 0) for request in batch]
    requests += plan_batches(load(), SCORING, SETS, 1)[0]
    assert len({tuple(request.tokens[:4]) for request in requests}) == len(requests)
    tokens = spread_tokens(500, 49152, salt=3)
    assert max(tokens) < 49152 and len(set(tokens)) > 490


def test_the_heaviest_set_samples() -> None:
    assert choose_heaviest(SETS) == {"temperature": 0.8, "top_p": 0.9}
    assert choose_heaviest([{}]) == {"temperature": 0}
