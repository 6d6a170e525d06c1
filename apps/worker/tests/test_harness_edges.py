"""Edges of prompts, data files and names at which other harnesses were wrong: the exact values they must keep."""

from pathlib import Path

import pytest
from lm_eval.api.instance import Instance

from assay_worker.harnesses.chat import ChatRenderer
from assay_worker.harnesses.generation import ParameterSets
from assay_worker.harnesses.prompts import PromptMaker
from assay_worker.harnesses.refusals import Refusal
from assay_worker.harnesses.render import render
from assay_worker.harnesses.render_model import RenderModel
from assay_worker.harnesses.task_registry import open_registry
from assay_worker.harnesses.task_selection import select_entries
from assay_worker.harnesses.tokenizer import load_model_text
from harness_kit import GENERATE, TASKS, build_render, write_task

WINDOW = 64
CSV = GENERATE.replace("dataset_path: json", "dataset_path: csv")
CSV_TEXT = 'question,answer\r\n"2+2?",4\r\n"a\r\nb",5\r\n'
OTHER_TASK = "task: other\ndataset_path: json\noutput_type: generate_until\n"


@pytest.fixture(scope="module")
def model(demo_model: str) -> RenderModel:
    text = load_model_text({"pretrained": demo_model, "max_model_len": WINDOW}, False)
    return RenderModel(text, {"pretrained": demo_model}, ChatRenderer(text.tokenizer, None, text.name, {}))


def score_request(context: str, continuation: str) -> Instance:
    return Instance("loglikelihood", {}, (context, continuation), 0)


@pytest.mark.parametrize(("tokens", "lost"), [(WINDOW - 1, 0), (WINDOW, 1), (WINDOW + 1, 2)])
def test_a_scored_prompt_leaves_room_for_the_one_token_that_the_engine_adds(tokens: int, lost: int, model: RenderModel) -> None:
    context = "a" + " a" * (tokens - 2)
    [(_, [prompt])] = PromptMaker(model, ParameterSets()).make("t", [score_request(context, " b")])
    whole = model.tok_encode(context + " b")
    assert len(whole) == tokens
    assert (prompt.cut, prompt.context + prompt.continuation) == (lost, whole[lost:])
    assert len(prompt.continuation) == 1


@pytest.mark.parametrize("answer", ["A", "Paris", "東京"])
def test_a_space_counts_the_same_at_the_end_of_the_context_and_at_the_start_of_the_continuation(answer: str, model: RenderModel) -> None:
    ends, begins = model.encode_pairs([score_request("Answer: ", answer), score_request("Answer:", f" {answer}")])
    assert ends == begins == (model.tok_encode("Answer:"), begins[1])
    assert begins[0] + begins[1] == model.tok_encode(f"Answer: {answer}")


@pytest.mark.parametrize(("context", "continuation", "text"), [("", " a", " a"), ("   ", "a", "   a"), ("\n", " a", "\n a")])
def test_a_context_without_a_word_becomes_bos(context: str, continuation: str, text: str, model: RenderModel) -> None:
    bos = model.tokenizer.bos_token_id
    assert model.encode_pairs([score_request(context, continuation)]) == [([bos], model.tok_encode(text))]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_csv_file_loses_its_bom_and_the_ends_of_its_lines_and_nothing_inside_quotes(mark: bytes, tmp_path: Path, demo_model: str) -> None:
    file = write_task(tmp_path, CSV, mark + CSV_TEXT.encode())
    session, _ = render(build_render(tmp_path / "requests", demo_model, tasks=[str(file)]), lambda: None)
    part = session.parts[0]
    assert list(part.documents[0][1]) == ["question", "answer"]
    assert [str(part.task.doc_to_target(document)) for _, document in part.documents] == ["4", "5"]
    assert [instance.args[0] for instance in part.instances] == ["Q: 2+2?\nA:", "Q: a\r\nb\nA:"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_csv_file_in_utf16_is_refused_by_name(encoding: str, tmp_path: Path, demo_model: str) -> None:
    file = write_task(tmp_path, CSV, ("" if encoding == "utf-16" else "\ufeff").encode(encoding) + CSV_TEXT.encode(encoding))
    with pytest.raises(Refusal, match=r"data\.jsonl is UTF-16") as caught:
        render(build_render(tmp_path / "requests", demo_model, tasks=[str(file)]), lambda: None)
    assert caught.value.code == "TASK_INVALID"


@pytest.mark.parametrize(("name", "found"), [("fx_choice", "fx_choice"), ("gsm8k", "gsm8k"), ("./gsm8k", "other"), ("./fx_choice/", "other")])
def test_a_folder_counts_as_one_only_where_it_is_written_as_a_path(name: str, found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("fx_choice", "gsm8k"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "t.yaml").write_text(OTHER_TASK)
    monkeypatch.chdir(tmp_path)
    assert [entry.name for entry in select_entries([name], open_registry([str(TASKS)])).entries] == [found]


def test_a_share_as_limit_is_taken_of_each_task_by_itself(tmp_path: Path, demo_model: str) -> None:
    for name, size in (("small", 100), ("large", 1000)):
        (tmp_path / name).mkdir()
        write_task(tmp_path / name, GENERATE.replace("task: t", f"task: {name}"), '{"question": "q", "answer": "a"}\n' * size)
    command = build_render(tmp_path / "requests", demo_model, tasks=["small", "large"], include_path=[str(tmp_path)], limit=0.1)
    _, rendered = render(command, lambda: None)
    assert [(task.documents, task.documents_total) for task in rendered.tasks] == [(10, 100), (100, 1000)]


@pytest.mark.parametrize(
    ("text", "stops", "answer"),
    [
        (" 42<|im_end|>\n<|im_start|>user\nmore", ["\n\n", "<|im_end|>"], " 42"),
        (" 42\n\n<|im_end|>", ["<|im_end|>", "\n\n"], " 42"),
        ("<|im_end|>", "<|im_end|>", ""),
        (" 42<|im_end|", ["<|im_end|>", ""], " 42<|im_end|"),
        (" 42", None, " 42"),
    ],
)
def test_a_text_ends_before_the_earliest_stop_string_even_a_special_token(text: str, stops: list[str] | str | None, answer: str) -> None:
    pytest.importorskip("vllm")
    from assay_worker.engines.vllm_sampling import cut_at_stops

    assert cut_at_stops(text, stops) == answer
