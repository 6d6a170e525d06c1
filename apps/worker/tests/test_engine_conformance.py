"""What every engine behind the port must do. A new engine is added to `engine` and passes these."""

from typing import Any

import pytest

from assay_worker.engines.base import Answer, Engine, EngineRequest, LoadSpec, RequestRefused
from assay_worker.engines.simulated import SimulatedEngine
from assay_worker.protocol import check_effective
from engine_kit import load_vllm

GREEDY = {"temperature": 0, "ignore_eos": True}


@pytest.fixture(params=["simulated", pytest.param("vllm", marks=pytest.mark.engine)])
def engine(request: pytest.FixtureRequest) -> Any:
    if request.param == "vllm":
        return load_vllm(request.getfixturevalue("demo_model"))
    simulated = SimulatedEngine()
    simulated.load(LoadSpec({"max_model_len": 1024, "max_num_seqs": 8, "max_num_batched_tokens": 256, "vocab_size": 49152}))
    return simulated


def scoring(name: str, context: int = 20, continuation: int = 2) -> EngineRequest:
    return EngineRequest(name, "loglikelihood", list(range(100, 100 + context + continuation)), context, 1, {})


def generating(name: str, budget: int = 4, length: int = 6, **parameters: Any) -> EngineRequest:
    return EngineRequest(name, "generate_until", list(range(300, 300 + length)), length, budget, {**GREEDY, **parameters})


def drain(engine: Engine, count: int) -> dict[str, Answer]:
    answers: dict[str, Answer] = {}
    for _ in range(500):
        if len(answers) == count:
            break
        for answer in engine.step().answers:
            assert answer.id not in answers, "an answer comes once"
            answers[answer.id] = answer
    return answers


def test_answers_every_request_once_whatever_their_number(engine: Engine) -> None:
    requests = [scoring(f"score-{number}", context=10 + number) for number in range(12)] + [generating(f"text-{number}") for number in range(6)]
    for request in requests:
        engine.add(request)
    answers = drain(engine, len(requests))
    assert answers.keys() == {request.id for request in requests}
    for request in requests:
        answer = answers[request.id]
        assert answer.error is None and answer.prompt_tokens == len(request.tokens)
        if request.kind == "generate_until":
            assert isinstance(answer.text, str) and answer.finish in ("stop", "length") and 1 <= answer.new_tokens <= 4
            assert answer.logprob is None
        else:
            assert isinstance(answer.logprob, float) and answer.logprob <= 0 and isinstance(answer.greedy, bool)
            assert answer.text is None


def test_the_same_tokens_give_the_same_answer(engine: Engine) -> None:
    engine.add(scoring("first"))
    first = drain(engine, 1)["first"]
    engine.reset_prefix_cache()
    engine.add(scoring("second"))
    second = drain(engine, 1)["second"]
    assert (first.logprob, first.greedy) == (second.logprob, second.greedy)


def test_a_refusal_touches_nothing_else(engine: Engine) -> None:
    engine.add(scoring("good"))
    with pytest.raises(RequestRefused, match="1024"):
        engine.add(scoring("long", context=engine.limits.max_model_len))
    assert drain(engine, 1).keys() == {"good"}
    engine.add(scoring("long", context=4))
    assert drain(engine, 1).keys() == {"long"}


def test_what_is_aborted_gives_no_answer(engine: Engine) -> None:
    engine.add(generating("dropped", budget=500))
    engine.add(generating("kept"))
    engine.step()
    engine.abort(["dropped", "never there"])
    assert drain(engine, 1).keys() == {"kept"}


def test_counts_the_sequences_of_a_step(engine: Engine) -> None:
    for number in range(3):
        engine.add(generating(str(number), budget=3))
    reports = [engine.step() for _ in range(3)]
    assert reports[0].running == 3 and max(report.running for report in reports) == 3
    drain(engine, 3 - sum(len(report.answers) for report in reports))


def test_says_what_is_in_force(engine: Engine) -> None:
    effective = engine.describe()
    check_effective({**effective, "determinism": "fast", "scoring": "exact", "runSeed": 1})
    assert effective["batching"]["maxNumSeqs"] == engine.limits.max_num_seqs == 8
    assert effective["batching"]["maxModelLen"] == engine.limits.max_model_len == 1024
    engine.reset_peak()
    assert engine.read_peak_bytes() >= 0
