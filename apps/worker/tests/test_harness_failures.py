"""One metric's failure costs that metric; a group with a part missing has no number; what is not finite stays readable."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from assay_worker.harnesses.aggregate import aggregate, dump_json
from assay_worker.harnesses.refusals import Refusal
from assay_worker.harnesses.render import render
from assay_worker.harnesses.score import score
from assay_worker.harnesses.session import Session
from assay_worker.protocol import Aggregate, Aggregated, Score, Scored
from harness_kit import build_render, script_results, write_task


def start(folder: Path, model: str, *tasks: str) -> Session:
    return render(build_render(folder / "requests", model, tasks=list(tasks)), lambda: None)[0]


def score_part(session: Session, number: int, **changes: Any) -> Scored:
    results = [one.model_copy(update=changes) for one in script_results(session, session.parts[number])]
    return score(session, Score(type="score", id=2, task=number, waived=False, results=results), lambda: None)


def finish(session: Session, folder: Path) -> Aggregated:
    command = Aggregate(type="aggregate", id=3, scores_dir=str(folder / "scores"), date="d", log_samples=True, config={}, extra={})
    return aggregate(session, command)


def read_values(rows: Any) -> dict[str, Any]:
    return {f"{row.task} {row.metric},{row.filter}": row.value if row.error is None else row.error for row in rows}


def test_a_metric_that_raises_on_one_document_has_no_value_and_the_others_do(tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, "fx_generate")
    task: Any = session.parts[0].task

    def fail(**_: Any) -> float:
        raise ZeroDivisionError("no words")

    task._metric_fn_list["broken"], task._metric_fn_kwargs["broken"] = fail, {}
    task._aggregation_list["broken"] = task._aggregation_list["exact_match"]
    values = read_values(score_part(session, 0).rows)
    assert isinstance(values["fx_generate exact_match,strict-match"], float)
    assert values["fx_generate broken,last-number"] == "document 0: ZeroDivisionError: no words"


def ask_for_metrics(folder: Path, model: str, *metrics: str) -> tuple[Session, Any]:
    listed = "".join(f"  - metric: {metric}\n    aggregation: mean\n    higher_is_better: true\n" for metric in metrics)
    yaml = (
        "task: t\ndataset_path: json\ndataset_kwargs: {data_files: {test: DATA}}\ntest_split: test\noutput_type: generate_until\n"
        f"doc_to_text: '{{{{q}}}}'\ndoc_to_target: '{{{{a}}}}'\nmetric_list:\n{listed}"
    )
    file = write_task(folder, yaml, '{"q": "1+1=", "a": "2"}\n')
    return render(build_render(folder / "requests", model, tasks=[str(file)]), lambda: None)


def test_a_task_whose_only_metric_nobody_knows_is_refused_before_a_model_is_loaded(tmp_path: Path, demo_model: str) -> None:
    with pytest.raises(Refusal, match="exact_macth") as refused:
        ask_for_metrics(tmp_path, demo_model, "exact_macth")
    assert "did you mean exact_match?" in refused.value.details["problem"]


def test_an_unknown_metric_beside_a_known_one_is_a_warning(tmp_path: Path, demo_model: str) -> None:
    _, rendered = ask_for_metrics(tmp_path, demo_model, "exact_match", "exact_macth")
    assert [line for line in rendered.warnings if "exact_macth" in line and "it will have no value" in line]


def test_a_filter_that_raises_costs_the_metrics_behind_it(tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, "fx_generate")
    task: Any = session.parts[0].task
    task._filters[0].filters.insert(0, lambda: None)
    values = read_values(score_part(session, 0).rows)
    assert "filter strict-match: AttributeError" in values["fx_generate exact_match,strict-match"]
    assert isinstance(values["fx_generate exact_match,last-number"], float)


def test_a_perplexity_too_large_for_a_float_is_an_error_and_the_rest_stands(tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, "fx_last_word")
    values = read_values(score_part(session, 0, logprob=-1000.0).rows)
    assert "too large" in values["fx_last_word perplexity,none"]
    assert isinstance(values["fx_last_word acc,none"], float)
    loaded = json.loads(Path(finish(session, tmp_path).results_file).read_text())
    assert loaded["results"]["fx_last_word"]["perplexity,none"] is None


def test_infinite_log_probabilities_reach_the_files_by_name(tmp_path: Path, demo_model: str) -> None:
    from lm_eval.utils import make_table

    session = start(tmp_path, demo_model, "fx_last_word")
    score_part(session, 0, logprob=-math.inf)
    aggregated = finish(session, tmp_path)

    def refuse(name: str) -> Any:
        raise AssertionError(name)

    loaded = json.loads(Path(aggregated.results_file).read_text(), parse_constant=refuse)
    assert loaded["results"]["fx_last_word"]["perplexity,none"] == "Infinity"
    sample = json.loads(Path(aggregated.samples_files[0]).read_text().split("\n")[0], parse_constant=refuse)
    assert sample["perplexity"] == "-Infinity"
    assert "perplexity" in make_table(loaded)


def test_a_group_with_a_task_missing_has_no_number(tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, "fx_nested")
    names = [part.name for part in session.parts]
    for number, name in enumerate(names):
        if name != "fx_mutual":
            score_part(session, number)
    values = read_values(finish(session, tmp_path).rows)
    assert values["fx_group acc,none"] == values["fx_nested acc,none"] == "incomplete: fx_mutual not scored"
    assert values["fx_mutual acc,none"] == "not scored"
    assert isinstance(values["fx_nested::fx_inner exact_match,strict-match"], float)
    assert isinstance(values["fx_choice acc,none"], float)


def test_n_samples_counts_documents_once_whatever_the_number_of_filters(tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, "fx_generate")
    score_part(session, 0)
    aggregated = finish(session, tmp_path)
    loaded = json.loads(Path(aggregated.results_file).read_text())
    assert loaded["n-samples"]["fx_generate"] == {"original": 6, "effective": 6}
    assert Path(aggregated.samples_files[0]).read_text().count("\n") == 12


@pytest.mark.parametrize("text", ["a\u2028b\u0085c", "\ud800", "\u0000", "日本語"])
def test_any_text_survives_as_one_line(text: str) -> None:
    line = dump_json({"t": text})
    assert "\n" not in line
    assert json.loads(line.encode("utf-8")) == {"t": text}
