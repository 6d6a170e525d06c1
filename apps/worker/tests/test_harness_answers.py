"""Answers that are less than they seem: cut prompts, unfinished thoughts, control characters, repeats that are copies."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay_worker.harnesses.aggregate import aggregate
from assay_worker.harnesses.answer_rules import Generated, Thinking, describe_thinking, find_unfinished_thought, read_generated
from assay_worker.harnesses.render import render
from assay_worker.harnesses.score import score
from assay_worker.harnesses.session import Session
from assay_worker.protocol import Aggregate, Result, Score, Scored
from harness_kit import GENERATE, build_render, script_results, write_task

SILENT = Thinking("<think>", "</think>", is_expected=False)
THINKS = Thinking("<think>", "</think>", is_expected=True)
HALF = "<think>… so maybe 42, but wait"
QUESTION = '{"question": "What is 6 * 7?", "answer": "42"}\n'


def start(folder: Path, model: str, yaml: str, data: str, **model_args: Any) -> Session:
    args = {"pretrained": model, "max_model_len": 1024} | model_args
    return render(build_render(folder / "requests", model, tasks=[str(write_task(folder, yaml, data))], model_args=args), lambda: None)[0]


def answer(session: Session, changes: list[dict[str, Any]]) -> list[Result]:
    return [one.model_copy(update=change) for one, change in zip(script_results(session, session.parts[0]), changes, strict=True)]


def run_score(session: Session, results: list[Result]) -> Scored:
    return score(session, Score(type="score", id=2, task=0, waived=False, results=results), lambda: None)


def read_samples(session: Session, folder: Path) -> list[dict[str, Any]]:
    command = Aggregate(type="aggregate", id=3, scores_dir=str(folder / "scores"), date="d", log_samples=True, config={}, extra={})
    lines = Path(aggregate(session, command).samples_files[0]).read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


@pytest.mark.parametrize(
    ("prompt", "text", "is_cut", "thinking", "reason"),
    [
        ("q", HALF, True, SILENT, "truncated in reasoning"),
        ("q", HALF, False, SILENT, "stopped in reasoning"),
        ("q", f"{HALF}</think> 42", True, SILENT, None),
        ("q<think>\n", "so maybe 42, but wait", True, SILENT, "truncated in reasoning"),
        ("q<think>\n\n</think>\n\n", "42 and so on", True, SILENT, None),
        ("q<think>\n\n</think>\n\n", "42 and so on", True, THINKS, None),
        ("q", "so maybe 42, but wait", True, THINKS, "truncated in reasoning"),
        ("q", "42", False, THINKS, None),
        ("q", "so maybe 42, but wait", True, SILENT, None),
    ],
)
def test_a_thought_that_never_ends_is_known_by_its_beginning_or_its_cut(
    prompt: str, text: str, is_cut: bool, thinking: Thinking, reason: str | None
) -> None:
    generated = Generated(prompt, text, is_cut, ["\n\n"])
    assert find_unfinished_thought(generated, thinking) == reason
    reading = read_generated(generated, thinking, None)
    assert (reading.thought, reading.scored == "") == (reason, reason is not None)
    assert reading.response == text


@pytest.mark.parametrize(
    ("model_args", "thinking"),
    [
        ({}, SILENT),
        ({"think_end_token": "</think>"}, THINKS),
        ({"think_end_token": "</think>", "enable_thinking": False}, SILENT),
        ({"think_end_token": "</think>", "chat_template_args": {"enable_thinking": False}}, SILENT),
        ({"think_end_token": "[/THINK]"}, Thinking("[THINK]", "[/THINK]", is_expected=True)),
        ({"think_end_token": "<|final|>"}, Thinking(None, "<|final|>", is_expected=True)),
        ({"think_end_token": "/"}, Thinking(None, "/", is_expected=True)),
    ],
)
def test_the_marks_of_thinking_follow_think_end_token(model_args: dict[str, Any], thinking: Thinking) -> None:
    assert describe_thinking(model_args) == thinking


def test_unfinished_thoughts_are_empty_answers_marked_and_counted(tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, GENERATE + "metric_list: [{metric: exact_match, aggregation: mean, higher_is_better: true}]\n", QUESTION * 20)
    texts = [{"text": "42", "finish": "stop"}] * 16 + [{"text": f"{HALF} 42", "finish": "length", "outcome": "length"}] * 4
    scored = run_score(session, answer(session, texts))
    assert [row.value for row in scored.rows] == [0.8]
    assert (scored.answers.generated, scored.answers.unfinished_thoughts) == (20, 4)
    samples = read_samples(session, tmp_path)
    assert "assay" not in samples[0]
    assert samples[-1]["assay"] == {"unfinished_thought": [["truncated in reasoning"]]}
    assert (samples[-1]["resps"], samples[-1]["filtered_resps"]) == ([[f"{HALF} 42"]], [""])


def test_a_null_byte_is_left_out_of_the_scored_answer_and_kept_in_the_record(tmp_path: Path, demo_model: str) -> None:
    session = start(tmp_path, demo_model, GENERATE, QUESTION * 2)
    scored = run_score(session, answer(session, [{"text": "42\u0000"}, {"text": "\t42\u0085"}]))
    assert scored.answers.control_characters == 1
    first, second = read_samples(session, tmp_path)
    assert (first["resps"], first["filtered_resps"], first["exact_match"]) == ([["42\u0000"]], ["42"], 1.0)
    assert first["assay"] == {"control_characters": [[1]]}
    assert (second["filtered_resps"], "assay" in second) == (["\t42\u0085"], False)


@pytest.mark.parametrize("copied", [19, 20])
def test_repeats_that_are_copies_are_counted(copied: int, tmp_path: Path, demo_model: str) -> None:
    yaml = GENERATE.replace("max_gen_toks: 8", "max_gen_toks: 8, do_sample: true, temperature: 1.0, seed: 1234") + "repeats: 8\n"
    session = start(tmp_path, demo_model, yaml, QUESTION * 20)
    texts = [{"text": "42"}] * 8 * copied + [{"text": str(place)} for place in range(8 * (20 - copied))]
    scored = run_score(session, answer(session, texts))
    assert (scored.answers.repeated, scored.answers.copied) == (20, copied)


def test_a_prompt_that_was_cut_is_marked_on_its_sample_with_the_tokens_lost(tmp_path: Path, demo_model: str) -> None:
    long = json.dumps({"question": "word " * 2000, "answer": "42"}) + "\n"
    session = start(tmp_path, demo_model, GENERATE, QUESTION * 4 + long + QUESTION * 5)
    scored = run_score(session, answer(session, [{"text": "42"}] * 10))
    assert scored.answers.truncated_documents == 1
    samples = read_samples(session, tmp_path)
    assert [sample["doc_id"] for sample in samples if "assay" in sample] == [4]
    marks = samples[4]["assay"]
    assert marks["truncated"] is True and marks["lost_tokens"] == [next(iter(session.lost_tokens.values()))] and marks["lost_tokens"][0] > 900


def test_cut_choices_are_marked_choice_by_choice(tmp_path: Path, demo_model: str) -> None:
    command = build_render(tmp_path / "requests", demo_model, model_args={"pretrained": demo_model, "max_model_len": 40})
    session = render(command, lambda: None)[0]
    scored = run_score(session, script_results(session, session.parts[0]))
    assert scored.answers.truncated_documents == 8
    assert all(len(sample["assay"]["lost_tokens"]) == len(sample["arguments"]) for sample in read_samples(session, tmp_path))
