"""Our scoring of given answers against lm_eval's own simple_evaluate with an LM that gives the same answers."""

import json
from pathlib import Path
from typing import Any

import pytest

import harness_kit
from assay_worker.harnesses import score as score_module
from assay_worker.harnesses.aggregate import aggregate, dump_json
from assay_worker.harnesses.document_metrics import MetricFailures
from assay_worker.harnesses.render import render
from assay_worker.harnesses.samples import dump_sample
from assay_worker.harnesses.score import score
from assay_worker.harnesses.session import Session
from assay_worker.protocol import Aggregate, Aggregated, Render, Score
from harness_kit import ScriptedLM, build_render, script_results

ITERATIONS = 2000  # lm_eval's default of 100,000 bootstrap draws would take the tests minutes

CASES: dict[str, dict[str, Any]] = {
    "multiple choice, tags": {"tasks": ["fx_tag"], "limit": 6.0},
    "log-likelihood and perplexity": {"tasks": ["fx_last_word"]},
    "rolling perplexities, an empty text": {"tasks": ["fx_rolling"]},
    "generation with two filters": {"tasks": ["fx_generate"]},
    "repeats by vote and by first": {"tasks": ["fx_repeats"]},
    "a scorer, filter and aggregation of the task's own": {"tasks": ["fx_custom"]},
    "a task written as a class with two requests of index 0": {"tasks": ["fx_class"]},
    "groups in groups, parts of unequal size": {"tasks": ["fx_nested"], "samples": {"fx_choice": [5, 1, 3], "fx_mutual": [0, 2, 4, 6, 7]}},
    "three shots for tasks that say two": {"tasks": ["fx_choice", "fx_generate"], "num_fewshot": 3, "limit": 0.4},
    "outputs only": {"tasks": ["fx_generate", "fx_choice"], "predict_only": True},
}


@pytest.fixture(autouse=True)
def few_bootstrap_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_module, "BOOTSTRAP_ITERATIONS", ITERATIONS)


@pytest.mark.parametrize("name", CASES)
def test_scores_and_samples_are_those_of_lm_eval(name: str, tmp_path: Path, demo_model: str) -> None:
    command = build_render(tmp_path / "requests", demo_model, **CASES[name])
    session, _ = render(command, lambda: None)
    aggregated = run_ours(session, tmp_path)
    ours = json.loads(Path(aggregated.results_file).read_text("utf-8"))
    theirs = run_theirs(command)
    samples = theirs.pop("samples")
    for key in ("results", "groups", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples"):
        assert ours.get(key) == as_json(theirs.get(key)), key
    for path, part in zip(aggregated.samples_files, session.parts, strict=True):
        lines = [json.loads(line) for line in Path(path).read_text("utf-8").split("\n") if line]
        assert lines == [as_json(dump_sample(sample)) for sample in samples[part.name]]


def run_ours(session: Session, folder: Path, config: dict[str, Any] | None = None) -> Aggregated:
    for part in session.parts:
        results = script_results(session, part)
        score(session, Score(type="score", id=2, task=part.number, waived=False, results=results[::-1]), lambda: None)
    folder /= "scores"
    return aggregate(
        session, Aggregate(type="aggregate", id=3, scores_dir=str(folder), date="d", log_samples=True, config=config or {}, extra={})
    )


def run_theirs(command: Render) -> Any:
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(harness_kit.TASKS), include_defaults=False, metadata=command.model_args)
    samples = command.samples and {name: sorted(numbers) for name, numbers in command.samples.items()}
    return simple_evaluate(
        model=ScriptedLM(),
        model_args=command.model_args,
        tasks=manager.match_tasks(command.tasks),
        task_manager=manager,
        num_fewshot=command.num_fewshot,
        limit=command.limit,
        samples=samples,
        predict_only=command.predict_only,
        bootstrap_iters=ITERATIONS,
    )


def as_json(value: Any) -> Any:
    return json.loads(dump_json(value))


def test_a_document_whose_request_was_rejected_is_left_out_and_counted(tmp_path: Path, demo_model: str) -> None:
    session, _ = render(build_render(tmp_path / "requests", demo_model), lambda: None)
    results = script_results(session, session.parts[0])
    results[5] = results[5].model_copy(update={"outcome": "rejected", "logprob": None, "greedy": None})
    scored = score(session, Score(type="score", id=2, task=0, waived=False, results=results), lambda: None)
    assert (scored.documents, scored.scored_documents) == (8, 7)
    assert session.parts[0].score is not None
    assert [sample["doc_id"] for sample in session.parts[0].score.samples] == [0, 2, 3, 4, 5, 6, 7]


def test_missing_results_are_refused_unless_waived(tmp_path: Path, demo_model: str) -> None:
    from assay_worker.harnesses.refusals import Refusal

    session, _ = render(build_render(tmp_path / "requests", demo_model), lambda: None)
    results = script_results(session, session.parts[0])[:9]
    with pytest.raises(Refusal, match="23 of 32 requests"):
        score(session, Score(type="score", id=2, task=0, waived=False, results=results), lambda: None)
    scored = score(session, Score(type="score", id=2, task=0, waived=True, results=results), lambda: None)
    assert (scored.documents, scored.scored_documents) == (8, 2)


def test_no_complete_document_gives_rows_without_values(tmp_path: Path, demo_model: str) -> None:
    session, _ = render(build_render(tmp_path / "requests", demo_model), lambda: None)
    scored = score(session, Score(type="score", id=2, task=0, waived=True, results=[]), lambda: None)
    assert [(row.metric, row.value, row.error) for row in scored.rows] == [
        ("acc", None, "no document has all its answers"), ("acc_norm", None, "no document has all its answers"),
    ]  # fmt: skip


def test_the_results_file_holds_lm_evals_settings_in_its_order_and_no_secret(tmp_path: Path, demo_model: str) -> None:
    changes = {"model_args": {"pretrained": demo_model, "max_model_len": 1024, "hf_token": "plain-value"}, "metadata": {"service": {"password": "plain-value"}}}
    session, _ = render(build_render(tmp_path / "requests", demo_model, limit=2.0, **changes), lambda: None)
    told = {"model": "vllm", "batch_size": "auto", "batch_sizes": [8], "device": None}
    text = Path(run_ours(session, tmp_path, told).results_file).read_text("utf-8")
    assert "plain-value" not in text
    results = json.loads(text)
    assert results["config"] == {
        "model": "vllm", "model_args": {**session.command.model_args, "hf_token": "[redacted]"}, "batch_size": "auto", "batch_sizes": [8],
        "device": None, "use_cache": None, "limit": 2.0, "bootstrap_iters": 100_000, "gen_kwargs": None,
        "random_seed": 0, "numpy_seed": 1234, "torch_seed": 1234, "fewshot_seed": 1234,
    }  # fmt: skip
    assert list(results["config"])[:5] == ["model", "model_args", "batch_size", "batch_sizes", "device"]
    assert results["configs"]["fx_choice"]["metadata"]["service"] == {"password": "[redacted]"}
    assert session.command.model_args["hf_token"] == "plain-value"


def test_the_reason_of_a_failed_metric_holds_no_secret() -> None:
    failures = MetricFailures()
    failures.fail("acc", "none", "document 3: ValueError: refused api_key=plain-value")
    assert failures.messages == {"acc,none": "document 3: ValueError: refused api_key=[redacted]"}
