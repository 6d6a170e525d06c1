"""What a rendering says of itself: shots, examples, BOS, template, seeds, parameters, doubts."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay_worker.harnesses.render import render
from assay_worker.harnesses.tokenizer import derive_window
from assay_worker.protocol import Rendered
from harness_kit import TASK_YAML, build_render

LINT_YAML = TASK_YAML + 'doc_to_text: "{{question}}"\n'


def render_at(folder: Path, model: str, **changes: Any) -> Rendered:
    return render(build_render(folder / "requests", model, **changes), lambda: None)[1]


@pytest.mark.parametrize(("asked", "shots"), [(None, 2), (0, 0), (3, 3)])
def test_the_shots_of_the_task_count_unless_others_are_asked_for(asked: int | None, shots: int, tmp_path: Path, demo_model: str) -> None:
    rendered = render_at(tmp_path, demo_model, num_fewshot=asked)
    assert rendered.tasks[0].num_fewshot == shots
    assert len(rendered.tasks[0].fewshot_docs) <= 4


def test_a_task_that_fixes_no_shots_keeps_them_and_a_warning_says_so(tmp_path: Path, demo_model: str) -> None:
    rendered = render_at(tmp_path, demo_model, tasks=["fx_mutual"], num_fewshot=3)
    assert rendered.tasks[0].num_fewshot == 0
    assert any("fx_mutual fixes num_fewshot at 0" in warning for warning in rendered.warnings)


def test_another_fewshot_seed_gives_other_examples_and_the_rule_shows_it(tmp_path: Path, demo_model: str) -> None:
    command = build_render(tmp_path / "a", demo_model)
    seeds = [command.seed, command.seed.model_copy(update={"fewshot": 7})]
    first, second = (render_at(tmp_path / str(seed.fewshot), demo_model, seed=seed) for seed in seeds)
    assert first.tasks[0].fewshot_rule != second.tasks[0].fewshot_rule
    assert first.digest != second.digest
    assert second.seeds["fewshot"]["value"] == 7


def test_first_n_examples_are_named_in_order(tmp_path: Path, demo_model: str) -> None:
    rendered = render_at(tmp_path, demo_model, tasks=["fx_generate"])
    task = rendered.tasks[0]
    assert len(task.fewshot_docs) == 1
    assert task.fewshot_rule.startswith("1, the first of dev, seed 1234")
    assert task.generation_parameters["stop"] == ["Question:", "\n\n", "<|im_end|>"]
    assert [one["name"] for one in task.filters] == ["strict-match", "last-number"]
    assert task.metrics[0]["metric"] == "exact_match" and len(task.metrics[0]["definition"]) == 64
    assert {Path(name).name for name in task.files} == {"fx_generate.yaml", "_sums_yaml", "sums.jsonl", "sums_dev.jsonl"}


def test_a_template_that_is_not_applied_is_a_warning_and_an_applied_one_is_recorded(tmp_path: Path, demo_model: str) -> None:
    plain = render_at(tmp_path / "plain", demo_model)
    chat = render_at(tmp_path / "chat", demo_model, apply_chat_template=True)
    assert plain.chat_template is None and any("has a chat template and it is not applied" in one for one in plain.warnings)
    assert chat.chat_template and not any("chat template" in one for one in chat.warnings)
    assert chat.tasks[0].first_tokens[0] == 1 != chat.tasks[0].first_tokens[1]


@pytest.mark.parametrize(("flag", "word"), [(None, "not added (the tokenizer's setting)"), (False, "not added (model_args")])
def test_the_decision_about_bos_is_stated(flag: bool | None, word: str, tmp_path: Path, demo_model: str) -> None:
    model_args = {"pretrained": demo_model, "max_model_len": 512} | ({} if flag is None else {"add_bos_token": flag})
    assert render_at(tmp_path, demo_model, model_args=model_args).bos.startswith(word)


BOS_WARNING = "is configured with add_bos_token but adds none"


@pytest.mark.parametrize(
    ("key", "flag", "is_warned", "word"),
    [
        (True, None, True, "not added (the tokenizer adds none, although its configuration asks for it)"),
        (False, None, False, "not added (the tokenizer's setting)"),
        (None, None, False, "not added (the tokenizer's setting)"),
        (True, True, False, "added (model_args"),
        (True, False, False, "not added (model_args"),
    ],
)
def test_a_bos_that_the_model_asks_for_and_does_not_get_is_a_warning(
    key: bool | None, flag: bool | None, is_warned: bool, word: str, tmp_path: Path, demo_model: str
) -> None:
    model = tmp_path / "model"
    shutil.copytree(demo_model, model, ignore=shutil.ignore_patterns("*.safetensors"))
    if key is not None:
        file = model / "tokenizer_config.json"
        file.write_text(json.dumps(json.loads(file.read_text("utf-8")) | {"add_bos_token": key}))
    model_args = {"pretrained": str(model), "max_model_len": 512} | ({} if flag is None else {"add_bos_token": flag})
    rendered = render_at(tmp_path, str(model), model_args=model_args, tasks=["fx_mutual"])
    assert any(BOS_WARNING in one for one in rendered.warnings) == is_warned
    assert rendered.bos.startswith(word)


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("flag", [None, False, True])
def test_there_is_never_more_than_one_bos(chat: bool, flag: bool | None, tmp_path: Path, demo_model: str) -> None:
    model_args = {"pretrained": demo_model, "max_model_len": 512} | ({} if flag is None else {"add_bos_token": flag})
    first = render_at(tmp_path, demo_model, model_args=model_args, apply_chat_template=chat).tasks[0].first_tokens
    assert first[:2].count(1) == (1 if chat or flag else 0)


def test_cut_prompts_are_counted_for_their_task(tmp_path: Path, demo_model: str) -> None:
    model_args = {"pretrained": demo_model, "max_model_len": 40}
    rendered = render_at(tmp_path, demo_model, model_args=model_args, tasks=["fx_choice", "fx_last_word"])
    choice, words = rendered.tasks
    assert choice.truncated_requests == 32 and choice.truncated_tokens > 0
    assert words.truncated_requests == 0
    assert any("fx_choice: 32 prompts are longer than the window" in one for one in rendered.warnings)


def test_tasks_reached_twice_are_run_once_with_a_note(tmp_path: Path, demo_model: str) -> None:
    rendered = render_at(tmp_path, demo_model, tasks=["fx_choice", "fx_choice", "fx_group", "fx_t*"])
    assert [task.task for task in rendered.tasks] == ["fx_choice", "fx_mutual"]
    assert any("named more than once" in one for one in rendered.warnings)
    assert any("reached more than once" in one for one in rendered.warnings)
    assert rendered.groups["fx_group"]["tasks"] == ["fx_choice", "fx_mutual"]


@pytest.mark.parametrize(
    ("kind", "rest", "row", "word"),
    [
        ("multiple_choice", "doc_to_choice: c\ndoc_to_target: g", '{"question": "q", "c": ["a", "b"], "g": 2}', "none of the choices"),
        ("multiple_choice", "target_delimiter: ''\ndoc_to_choice: c\ndoc_to_target: g", '{"question": "q ", "c": [" a", "b"], "g": 1}', "begins"),
        ("generate_until", 'doc_to_target: g\ngeneration_kwargs: {until: ["."]}', '{"question": "q", "g": "12.25"}', "stop string"),
    ],
)
def test_doubts_about_a_task_are_warnings(kind: str, rest: str, row: str, word: str, tmp_path: Path, demo_model: str) -> None:
    good = '{"question": "q", "c": ["a", "b"], "g": 1}' if kind == "multiple_choice" else '{"question": "q", "g": "12"}'
    (tmp_path / "d.jsonl").write_text(f"{good}\n{row}\n")
    (tmp_path / "t.yaml").write_text(LINT_YAML.replace("KIND", kind).replace("DATA", str(tmp_path / "d.jsonl")) + rest + "\n")
    rendered = render_at(tmp_path, demo_model, tasks=[str(tmp_path / "t.yaml")])
    assert any(word in one and "1 times, first: document 1" in one for one in rendered.warnings), rendered.warnings


@pytest.mark.parametrize(
    ("config", "window"),
    [
        ({"max_position_embeddings": 4096}, 4096),
        ({"max_position_embeddings": 4096, "seq_length": 2048}, 2048),
        ({"n_positions": 1024, "model_max_length": 8000}, 8000),
        ({}, 2048),
        ({"max_position_embeddings": 4096, "rope_parameters": {"rope_type": "linear", "factor": 4.0}}, 16384),
        ({"max_position_embeddings": 131072, "rope_parameters": {"rope_type": "yarn", "factor": 4.0}}, 131072),
        ({"max_position_embeddings": 131072, "original_max_position_embeddings": 4096, "rope_parameters": {"rope_type": "longrope"}}, 4096),
        ({"model_type": "gemma3_text", "max_position_embeddings": 32768, "rope_parameters": {"rope_type": "linear", "factor": 8.0}}, 32768),
    ],
)
def test_the_window_is_derived_as_the_engine_derives_it(config: dict[str, Any], window: int) -> None:
    assert derive_window(SimpleNamespace(**config)) == window
