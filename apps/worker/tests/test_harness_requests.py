"""The request files: layout, prefix groups and heads, the same bytes every time, and data that changes between runs."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay_worker.harnesses.generation import ParameterSets
from assay_worker.harnesses.prefixes import MIN_HEAD_TOKENS, number_prefixes
from assay_worker.harnesses.render import render
from assay_worker.harnesses.request_files import RequestWriter
from assay_worker.harnesses.request_table import Prompt, RequestTable
from assay_worker.protocol import Rendered, write_message
from assay_worker.requests import RequestFiles
from harness_kit import GENERATE, build_render

WORKER = Path(__file__).parents[1]


def build_contexts(seed: int) -> list[list[list[int]]]:
    """Per task: contexts with or without a common head, some equal, some a prefix of another."""
    rng = random.Random(seed)
    tasks = []
    for _ in range(rng.randint(1, 3)):
        head = [rng.randrange(3) for _ in range(rng.choice([0, 5, 40]))]
        tasks.append([head + [rng.randrange(300) for _ in range(rng.randint(1, 4))] for _ in range(rng.randint(1, 30))])
    return tasks


@pytest.mark.parametrize("seed", range(25))
def test_groups_ascend_with_the_ids_and_heads_are_shared(seed: int, tmp_path: Path) -> None:
    tasks = build_contexts(seed)
    table, ranges = RequestTable(tmp_path / "tokens"), []
    for number, contexts in enumerate(tasks):
        ranges.append((len(table), len(table) + len(contexts)))
        for ordinal, context in enumerate(contexts):
            table.add(number, ordinal, 0, Prompt("loglikelihood", context, [7], 1), 1)
    number_prefixes(table, ranges)
    keys = [(context, number) for number, contexts in enumerate(tasks) for context in contexts]
    expected = {repr(key): place for place, key in enumerate(sorted(dict.fromkeys((tuple(one), task) for one, task in keys)))}
    assert table.read_column("prefixGroup").tolist() == [expected[repr((tuple(one), task))] for one, task in keys]
    heads, lengths = table.read_column("head"), table.read_column("headTokens")
    for head in set(heads.tolist()) - {0}:
        rows = np.flatnonzero(heads == head).tolist()
        assert len({tuple(keys[row][0][: lengths[row]]) for row in rows}) == 1
        assert len({keys[row][1] for row in rows}) == 1
        assert min(lengths[row] for row in rows) >= MIN_HEAD_TOKENS
    for (begin, end), contexts in zip(ranges, tasks, strict=True):
        if len({tuple(one) for one in contexts}) > 1 and len(contexts[0]) >= 40:
            assert all(heads[begin:end])
    table.flush_tokens().close()


def test_a_head_is_found_although_one_context_lacks_it(tmp_path: Path) -> None:
    table = RequestTable(tmp_path / "tokens")
    contexts = [[1] * 50 + [place] for place in range(40)] + [[2]]
    for ordinal, context in enumerate(contexts):
        table.add(0, ordinal, 0, Prompt("loglikelihood", context, [7], 1), 1)
    number_prefixes(table, [(0, 41)])
    assert table.read_column("headTokens").tolist() == [50] * 40 + [0]
    table.flush_tokens().close()


def test_files_read_back_as_they_were_written(tmp_path: Path) -> None:
    parameters = ParameterSets()
    number = parameters.add({"max_tokens": 5, "stop": ["\u2028"]}, ["\u2028"])
    with RequestWriter(tmp_path) as writer:
        writer.table.add(0, 3, 0, Prompt("generate_until", [1, 2, 70000], [], 5, number, cut=4), 2)
        writer.add_document_line({"row": 0, "context": "\ud800\u2028"})
        writer.finish(parameters)
    files = RequestFiles(tmp_path)
    first, second = files.read(0), files.read(1)
    assert (first.tokens, first.new_token_budget, first.truncated_tokens, first.parameters["stop"]) == ([1, 2, 70000], 5, 4, ["\u2028"])
    assert (second.tokens, second.repeat, second.ordinal) == (first.tokens, 1, 3)
    assert json.loads((tmp_path / "docs.ndjson").read_text()) == {"row": 0, "context": "\ud800\u2028"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs.ndjson", "index.bin", "params.json", "tokens.bin"]


def test_nothing_stays_of_a_writing_that_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), RequestWriter(tmp_path) as writer:
        writer.table.add(0, 0, 0, Prompt("loglikelihood", [1], [2], 1), 1)
        raise RuntimeError("a task failed")
    assert not list(tmp_path.iterdir())


def render_at(folder: Path, model: str, **changes: Any) -> Rendered:
    return render(build_render(folder, model, **changes), lambda: None)[1]


def test_a_second_rendering_changes_no_file_and_gives_the_same_digest(tmp_path: Path, demo_model: str) -> None:
    tasks = {"tasks": ["fx_choice", "fx_generate", "fx_repeats"]}
    first = render_at(tmp_path, demo_model, **tasks)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    again = render_at(tmp_path, demo_model, **tasks)
    other = render_at(tmp_path, demo_model, **tasks, num_fewshot=1)
    assert first.digest == again.digest != other.digest
    assert {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before


def test_two_processes_at_once_render_the_same(tmp_path: Path, demo_model: str) -> None:
    """Fresh processes, an empty cache, and one seed: the same examples in front of the same questions."""
    code = (
        "import sys; from assay_worker.harnesses.environment import prepare_environment; prepare_environment()\n"
        "from assay_worker.harnesses.render import render; from assay_worker.protocol import harness_commands, read_message\n"
        "print(render(read_message(harness_commands, sys.argv[1]), lambda: None)[1].digest)"
    )
    lines = [write_message(build_render(tmp_path / name, demo_model, tasks=["fx_choice", "fx_custom"])) for name in "ab"]
    processes = [
        subprocess.Popen([sys.executable, "-c", code, line], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={"PYTHONPATH": str(WORKER)})
        for line in lines
    ]
    digests = {process.communicate(timeout=100)[0].strip() for process in processes}
    assert len(digests) == 1 and digests != {b""}
    here = render_at(tmp_path / "c", demo_model, tasks=["fx_choice", "fx_custom"])
    assert digests == {here.digest.encode()}


def render_data(folder: Path, model: str, data: bytes, name: str) -> tuple[Rendered, list[Any]]:
    (folder / "data.jsonl").write_bytes(data)
    (folder / "t.yaml").write_text(GENERATE.replace("DATA", str(folder / "data.jsonl")))
    rendered = render_at(folder / name, model, tasks=[str(folder / "t.yaml")])
    return rendered, [json.loads(line) for line in (folder / name / "docs.ndjson").read_text().split("\n") if line]


def test_changed_data_under_the_same_name_is_seen(tmp_path: Path, demo_model: str) -> None:
    first, _ = render_data(tmp_path, demo_model, b'{"question": "a", "answer": "1"}\n', "one")
    gold, _ = render_data(tmp_path, demo_model, b'{"question": "a", "answer": "2"}\n', "two")
    assert first.digest == gold.digest
    assert first.tasks[0].dataset_digest != gold.tasks[0].dataset_digest
    assert first.tasks[0].files != gold.tasks[0].files


def test_a_byte_order_mark_and_carriage_returns_do_not_reach_the_documents(tmp_path: Path, demo_model: str) -> None:
    data = b'\xef\xbb\xbf{"question": "a", "answer": "4"}\r\n{"question": "b\\u2028c", "answer": "5"}\r\n'
    _, lines = render_data(tmp_path, demo_model, data, "r")
    assert [line["doc"] for line in lines] == [{"question": "a", "answer": "4"}, {"question": "b\u2028c", "answer": "5"}]


def test_equal_ids_are_two_documents(tmp_path: Path, demo_model: str) -> None:
    rows = b'{"id": "dup", "question": "q", "answer": "A"}\n{"id": "dup", "question": "q", "answer": "B"}\n'
    rendered, lines = render_data(tmp_path, demo_model, rows, "r")
    assert rendered.tasks[0].documents == 2
    assert [(line["doc_id"], line["doc"]["answer"]) for line in lines] == [(0, "A"), (1, "B")]


def test_only_data_of_a_hub_may_use_the_network_and_the_users_wish_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets.config
    import huggingface_hub.constants as hub

    from assay_worker.harnesses import environment

    for module in (datasets.config, hub):
        monkeypatch.setattr(module, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(environment, "was_offline_asked", environment.functools.cache(environment.was_offline_asked.__wrapped__))
    for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "0")
    for offline in (True, False, True):
        environment.go_offline(offline)
        assert datasets.config.HF_HUB_OFFLINE is hub.HF_HUB_OFFLINE is offline
