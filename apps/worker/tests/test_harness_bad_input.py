"""Bad input is refused with a code of the error table, naming task, document and cause, before any model is loaded."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay_worker.harnesses.refusals import Refusal
from assay_worker.harnesses.render import render
from harness_kit import GENERATE, TASKS, build_render, write_task

GOOD = '{"question": "What is 1 + 1?", "answer": "2", "choices": ["2", "3"], "gold": 0}\n'
CHOICE = GENERATE.replace("generate_until", "multiple_choice").replace("doc_to_target: answer", "doc_to_target: gold\ndoc_to_choice: choices")
CHOICE = "\n".join(line for line in CHOICE.split("\n") if "generation_kwargs" not in line)


def drop(line: str, key: str) -> str:
    return json.dumps({name: value for name, value in json.loads(line).items() if name != key}) + "\n"


def replace(line: str, **values: Any) -> str:
    return json.dumps(json.loads(line) | values) + "\n"


# (the task's YAML, its data, changes of the command, the code, what the details must say)
CASES: dict[str, tuple[str, str | bytes | None, dict[str, Any], str, list[str]]] = {
    "a field that a later document lacks": (GENERATE, GOOD * 3 + drop(GOOD, "question"), {}, "DATASET_FIELD_MISSING", ["t", "3", "question"]),
    "a target that the first document lacks": (GENERATE, drop(GOOD, "answer") + GOOD, {}, "DATASET_FIELD_MISSING", ["0", "answer"]),
    "a field that no document has": (GENERATE.replace("{{question}}", "{{qestion}}"), GOOD, {}, "DATASET_FIELD_MISSING", ["0", "qestion"]),
    "a gold answer that a document lacks": (CHOICE, GOOD + drop(GOOD, "gold"), {}, "DATASET_FIELD_MISSING", ["1", "gold"]),
    "an empty choice in the first document": (CHOICE, replace(GOOD, choices=["yes", ""]), {}, "TASK_INVALID", ["document 0, choice 1", "empty"]),
    "an empty choice later": (CHOICE, GOOD * 2 + replace(GOOD, choices=["", "no"]), {}, "TASK_INVALID", ["document 2, choice 0", "empty"]),
    "a gold answer beyond the choices": (CHOICE, replace(GOOD, gold=2), {}, "TASK_INVALID", ["document 0", "2 choices"]),
    "gold answers that are a word and no column": (
        CHOICE.replace("doc_to_target: gold", "doc_to_target: label"), GOOD * 3, {}, "TASK_INVALID",
        ["task: t", "document 0", "'label'", "label names no column", "question, answer, choices, gold", "all 3 documents"],
    ),
    "gold answers none of which is a choice": (
        CHOICE.replace("doc_to_target: gold", "doc_to_target: answer"), replace(GOOD, answer="4") * 2, {}, "TASK_INVALID",
        ["document 0", "'4'", "2 choices"],
    ),
    "an empty data file": (GENERATE, "", {}, "DATASET_EMPTY", ["t"]),
    "a data file that is not there": (GENERATE.replace("DATA", "/nowhere/x.jsonl"), None, {}, "TASK_INVALID", ["/nowhere/x.jsonl"]),
    "a data file that is not JSON": (GENERATE, "{broken\n", {}, "TASK_INVALID", ["JSON"]),
    "a data file in UTF-16": (GENERATE, GOOD.encode("utf-16"), {}, "TASK_INVALID", ["UTF-16", "data.jsonl"]),
    "a split that is not there": (GENERATE.replace("test_split: test", "test_split: dev"), GOOD, {}, "TASK_INVALID", ["split", "dev"]),
    "a key given twice": (GENERATE + "test_split: other\n", GOOD, {}, "TASK_INVALID", ["test_split", "line 5", "line 10"]),
    "YAML that cannot be read": (GENERATE + "doc_to_text: [\n", GOOD, {}, "TASK_INVALID", ["t.yaml:11"]),
    "a key lm_eval does not know": (GENERATE + "num_fewshots: 3\n", GOOD, {}, "TASK_INVALID", ["num_fewshots", "num_fewshot"]),
    "a function that is not there": (GENERATE + "process_docs: !function nothing.f\n", GOOD, {}, "TASK_INVALID", ["nothing"]),
    "a filter that is not there": (
        GENERATE + "filter_list: [{name: x, filter: [{function: rejex}]}]\n", GOOD, {}, "TASK_INVALID", ["rejex"],
    ),
    "more shots than examples": (GENERATE + "fewshot_split: test\nnum_fewshot: 5\n", GOOD * 2, {}, "TASK_INVALID", ["t"]),
    "an output budget as large as the window": (
        GENERATE, GOOD, {"gen_kwargs": {"max_gen_toks": 1024}}, "OUTPUT_BUDGET", ["1024"],
    ),
    "a generation parameter that is misspelled": (GENERATE, GOOD, {"gen_kwargs": {"temprature": 0.1}}, "TASK_INVALID", ["temprature"]),
    "a prompt longer than the window, refused": (
        GENERATE, GOOD + replace(GOOD, question="word " * 2000), {"overlong": "refuse"}, "PROMPT_TOO_LONG", ["1024", "document 1"],
    ),
    "a continuation longer than the window": (
        CHOICE, replace(GOOD, choices=["a", "word " * 2000]), {}, "TASK_INVALID", ["document 0, choice 1", "window"],
    ),
    "code of the model": (GENERATE + "unsafe_code: true\n", GOOD, {}, "TASK_UNSAFE", ["t"]),
    "images": (GENERATE + "doc_to_image: picture\n", GOOD, {}, "TASK_MULTIMODAL", ["t"]),
    "a sample that does not exist": (GENERATE, GOOD, {"samples": {"t": [0, 7]}}, "CONFIG_VALUE", ["document 7"]),
    "samples of a task that is not in the run": (GENERATE, GOOD, {"samples": {"tt": [0]}}, "CONFIG_VALUE", ["tt"]),
    "a window beyond the model's": (GENERATE, GOOD, {"model_args": {"max_model_len": 9000}}, "CONFIG_VALUE", ["max_model_len", "8192"]),
    "thinking without its end": (GENERATE, GOOD, {"model_args": {"enable_thinking": True}}, "CONFIG_VALUE", ["think_end_token"]),
    "thinking whose end is a number": (GENERATE, GOOD, {"model_args": {"think_end_token": 151668}}, "CONFIG_VALUE", ["think_end_token", "151668"]),
    "a misspelled task": (GENERATE, GOOD, {"tasks": ["gsm8kk"]}, "TASK_UNKNOWN", ["gsm8k"]),
    "a pattern that matches nothing": (GENERATE, GOOD, {"tasks": ["zz_nothing_*"]}, "TASK_NONE", ["zz_nothing_*"]),
    "no task": (GENERATE, GOOD, {"tasks": []}, "TASK_NONE", []),
    "a name too long for a file": (GENERATE.replace("task: t\n", f"task: {'t' * 201}\n"), GOOD, {}, "TASK_INVALID", ["201 bytes"]),
    "a name of two lines": (GENERATE.replace("task: t\n", 'task: "t\\nu"\n'), GOOD, {}, "TASK_INVALID", ["printed"]),
    "a model folder that is not there": (GENERATE, GOOD, {"model_args": {"pretrained": "./no-model"}}, "MODEL_NOT_FOUND", ["no-model"]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_refused_by_name(name: str, tmp_path: Path, demo_model: str) -> None:
    yaml, data, changes, code, words = CASES[name]
    refusal = refuse(tmp_path, demo_model, yaml, data, changes)
    assert refusal.code == code, refusal
    for word in words:
        assert word in str(refusal), refusal
    assert not list(tmp_path.glob("requests/*")), "a refusal leaves no file behind"


def refuse(folder: Path, model: str, yaml: str, data: str | bytes | None, changes: dict[str, Any]) -> Refusal:
    file = write_task(folder, yaml, data)
    model_args = {"pretrained": model, "max_model_len": 1024} | changes.get("model_args", {})
    with pytest.raises(Refusal) as caught:
        render(build_render(folder / "requests", model, **{"tasks": [str(file)]} | changes | {"model_args": model_args}), lambda: None)
    return caught.value


@pytest.mark.parametrize(("golds", "changes"), [(["2", "4"], {}), (["4", "4"], {"predict_only": True})])
def test_a_gold_answer_outside_the_choices_is_a_warning_where_others_count_or_none_is_scored(
    golds: list[str], changes: dict[str, Any], tmp_path: Path, demo_model: str
) -> None:
    yaml = CHOICE.replace("doc_to_target: gold", "doc_to_target: answer")
    file = write_task(tmp_path, yaml, "".join(replace(GOOD, answer=gold) for gold in golds))
    _, rendered = render(build_render(tmp_path / "requests", demo_model, tasks=[str(file)], **changes), lambda: None)
    assert any("none of the choices" in warning for warning in rendered.warnings)


@pytest.mark.parametrize(
    ("change", "code", "word"),
    [
        ("tokenizer", "MODEL_NOT_FOUND", "no tokenizer"),
        ("tokenizer text", "MODEL_BROKEN", "tokenizer"),
        ("config", "MODEL_NOT_FOUND", "config.json"),
        ("config text", "MODEL_BROKEN", "config.json"),
    ],
)
def test_a_model_folder_that_is_not_whole_is_refused(change: str, code: str, word: str, tmp_path: Path, demo_model: str) -> None:
    model = tmp_path / "model"
    shutil.copytree(demo_model, model, ignore=shutil.ignore_patterns("*.safetensors"))
    name, _, broken = change.partition(" ")
    for file in model.glob(f"{name}*"):
        file.write_text("{not JSON") if broken and file.name in ("tokenizer.json", "config.json") else None
        if not broken:
            file.unlink()
    refusal = refuse(tmp_path, str(model), GENERATE, GOOD, {"model_args": {"pretrained": str(model)}})
    assert (refusal.code, word in str(refusal)) == (code, True), refusal


TEMPLATE_CASES = {
    "no template": (None, True, "has no chat template"),
    "a template without that name": ({"default": "{{ messages }}"}, "tool_use", "tool_use"),
    "a template that wants turns to alternate": ("{{ raise_exception('roles must alternate') }}", True, "roles must alternate"),
}


@pytest.mark.parametrize("name", TEMPLATE_CASES)
def test_a_chat_template_that_cannot_be_applied_is_refused(name: str, tmp_path: Path, demo_model: str) -> None:
    template, asked, word = TEMPLATE_CASES[name]
    model = copy_model(tmp_path, demo_model, template)
    refusal = refuse(tmp_path, model, GENERATE, GOOD, {"model_args": {"pretrained": model}, "apply_chat_template": asked})
    assert refusal.code == "CONFIG_VALUE"
    assert word in str(refusal) and "apply_chat_template" in str(refusal)


def test_a_template_that_refuses_the_system_message_goes_on_without_it_and_says_so(tmp_path: Path, demo_model: str) -> None:
    text = "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}{{ messages[0]['content'] }}"
    model = copy_model(tmp_path, demo_model, text)
    file = write_task(tmp_path, GENERATE, GOOD)
    command = build_render(tmp_path / "requests", model, tasks=[str(file)], apply_chat_template=True, system_instruction="Be brief.")
    _, rendered = render(command, lambda: None)
    assert any("System role not supported" in warning and "1 prompts" in warning for warning in rendered.warnings)
    assert rendered.chat_template == text


def copy_model(folder: Path, model: str, template: Any) -> str:
    copy = folder / "model"
    shutil.copytree(model, copy, ignore=shutil.ignore_patterns("*.safetensors", "chat_template*"))
    if template is not None:
        config = json.loads((copy / "tokenizer_config.json").read_text())
        named = [{"name": name, "template": text} for name, text in template.items()] if isinstance(template, dict) else template
        (copy / "tokenizer_config.json").write_text(json.dumps(config | {"chat_template": named}))
    return str(copy)


def test_a_broken_file_of_include_path_is_named_when_its_task_is_asked_for(tmp_path: Path, demo_model: str) -> None:
    (tmp_path / "mine.yaml").write_text("task: mine\ndoc_to_text: [\n")
    command = build_render(tmp_path / "requests", demo_model, tasks=["mine"], include_path=[str(TASKS), str(tmp_path)])
    with pytest.raises(Refusal, match=r"mine\.yaml"):
        render(command, lambda: None)
