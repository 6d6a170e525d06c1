"""Documents without an answer: two named numbers, none above the limit, and groups that say which mean theirs is."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay_worker.harnesses.aggregate import aggregate
from assay_worker.harnesses.missing_documents import judge_headline
from assay_worker.harnesses.render import render
from assay_worker.harnesses.score import score
from assay_worker.harnesses.session import Session
from assay_worker.protocol import Aggregate, MetricRow, Partial, Score, Scored
from harness_kit import GENERATE, build_render, script_results, write_task

QUESTION = '{"question": "What is 6 * 7?", "answer": "42"}\n'
RIGHT, WRONG, FAILED = {"text": "42"}, {"text": "41"}, {"outcome": "rejected", "text": None}
GROUP = """
group: g
task: [a, b, c]
aggregate_metric_list:
  - {metric: exact_match, aggregation: mean, weight_by_size: WEIGHTED}
"""


def start(folder: Path, model: str, *, sizes: dict[str, int], group: str = "") -> Session:
    """Tasks by name and number of documents."""
    for name, size in sizes.items():
        (folder / name).mkdir()
        write_task(folder / name, GENERATE.replace("task: t", f"task: {name}"), QUESTION * size)
    (folder / "g.yaml").write_text(group)
    tasks = ["g"] if group else list(sizes)
    return render(build_render(folder / "requests", model, tasks=tasks, include_path=[str(folder)]), lambda: None)[0]


def run_score(session: Session, number: int, answers: list[dict[str, Any]], waived: bool = False) -> Scored:
    scripted = script_results(session, session.parts[number])
    results = [one.model_copy(update=change) for one, change in zip(scripted, answers, strict=True)]
    return score(session, Score(type="score", id=2, task=number, waived=waived, results=results), lambda: None)


def finish(session: Session, folder: Path) -> tuple[list[MetricRow], Any]:
    command = Aggregate(type="aggregate", id=3, scores_dir=str(folder / "scores"), date="d", log_samples=False, config={}, extra={})
    aggregated = aggregate(session, command)
    return aggregated.rows, json.loads(Path(aggregated.results_file).read_text("utf-8"))


def test_a_score_over_a_part_of_its_documents_stands_under_two_names(tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, sizes={"t": 100})
    scored = run_score(session, 0, [RIGHT] * 80 + [WRONG] * 10 + [FAILED] * 10)
    assert (scored.headline, scored.documents, scored.scored_documents) == ("partial", 100, 90)
    assert scored.rows[0].value == pytest.approx(80 / 90)
    assert scored.rows[0].partial == Partial(answered=90, failed=10, answered_only=scored.rows[0].value, failures_as_wrong=0.8)


@pytest.mark.parametrize(("waived", "headline"), [(False, "withheld"), (True, "waived")])
def test_with_too_many_failures_there_is_no_headline_unless_it_is_waived(waived: bool, headline: str, tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, sizes={"t": 100})
    scored = run_score(session, 0, [RIGHT] * 80 + [WRONG] * 9 + [FAILED] * 11, waived)
    row = scored.rows[0]
    assert (scored.headline, row.partial and row.partial.failures_as_wrong) == (headline, 0.8)
    assert (row.value is None) == (row.error is not None) == (not waived)
    assert waived or "11 of 100 documents have no answer, more than the 10%" in str(row.error)
    _, results = finish(session, tmp_path)
    assert (results["results"]["t"]["exact_match,none"] is None) == (not waived)


def test_where_every_document_failed_there_is_no_score_even_if_it_is_waived(tmp_path: Path, demo_model: str) -> None:
    scored = run_score(start(tmp_path, demo_model, sizes={"t": 100}), 0, [FAILED] * 100, waived=True)
    assert [(row.value, row.error) for row in scored.rows] == [(None, "no document has all its answers")]
    assert scored.headline == "withheld"


@pytest.mark.parametrize(
    ("documents", "scored", "missing_rows", "headline"),
    [(10, 10, 0, "whole"), (10, 9, 0, "partial"), (100, 89, 0, "withheld"), (8, 7, 0, "withheld"), (100, 99, 1, "withheld"), (5, 0, 0, "withheld")],
)
def test_the_headline_follows_the_share_of_failed_documents(documents: int, scored: int, missing_rows: int, headline: str) -> None:
    assert judge_headline(documents, scored, missing_rows, waived=False) == headline


def test_a_metric_without_a_worst_value_has_no_second_number(tmp_path: Path, demo_model: str) -> None:
    session = render(build_render(tmp_path / "requests", demo_model, tasks=["fx_last_word"]), lambda: None)[0]
    count = len(script_results(session, session.parts[0]))
    scored = run_score(session, 0, [{}] * (count - 1) + [{"outcome": "rejected", "logprob": None}], waived=True)
    second = {row.metric: row.partial and row.partial.failures_as_wrong for row in scored.rows}
    assert second["perplexity"] is None
    assert isinstance(second["acc"], float)


@pytest.mark.parametrize("weighted", [True, False])
def test_the_two_means_of_a_group_are_told_apart(weighted: bool, tmp_path: Path, demo_model: str) -> None:
    """lm_eval's number is the one the group asks for."""
    session = start(tmp_path, demo_model, sizes={"a": 10, "b": 10, "c": 80}, group=GROUP.replace("WEIGHTED", str(weighted).lower()))
    for number, answers in enumerate([[RIGHT] * 10, [RIGHT] * 10, [RIGHT] * 40 + [WRONG] * 40]):
        run_score(session, number, answers)
    rows, results = finish(session, tmp_path)
    means = {row.mean: row.value for row in rows if row.group}
    assert means == {"by_sample": pytest.approx(0.6), "by_task": pytest.approx(2.5 / 3)}
    assert next(row.mean for row in rows if row.group) == ("by_sample" if weighted else "by_task")
    assert results["groups"]["g"]["exact_match,none"] == pytest.approx(0.6 if weighted else 2.5 / 3)


def test_over_parts_of_one_size_a_group_has_one_number(tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, sizes={"a": 4, "b": 4, "c": 4}, group=GROUP.replace("WEIGHTED", "true"))
    for number in range(3):
        run_score(session, number, [RIGHT] * 4)
    rows, _ = finish(session, tmp_path)
    assert [(row.mean, row.value) for row in rows if row.group] == [("by_sample", 1.0)]


def test_a_group_with_a_part_missing_or_withheld_has_no_number_of_either_kind(tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, sizes={"a": 10, "b": 10, "c": 80}, group=GROUP.replace("WEIGHTED", "true"))
    for number in (0, 1):
        run_score(session, number, [RIGHT] * 10)
    rows, results = finish(session, tmp_path)
    assert [(row.value, row.error) for row in rows if row.group] == [(None, "incomplete: c not scored")]
    assert "exact_match,none" not in results["groups"]["g"]
    run_score(session, 2, [RIGHT] * 40 + [FAILED] * 40)
    rows, results = finish(session, tmp_path)
    assert [(row.value, row.error) for row in rows if row.group] == [(None, "not scored in c")]
    assert "exact_match,none" not in results["groups"]["g"]


def test_a_group_whose_metric_no_task_has_says_so(tmp_path: Path, demo_model: str) -> None:
    group = GROUP.replace("WEIGHTED", "true").replace("exact_match", "acc")
    session = start(tmp_path, demo_model, sizes={"a": 2, "b": 2, "c": 2}, group=group)
    for number in range(3):
        run_score(session, number, [RIGHT] * 2)
    rows, _ = finish(session, tmp_path)
    assert [(row.metric, row.value, row.error) for row in rows if row.group] == [("acc", None, "none of its tasks has this metric")]
