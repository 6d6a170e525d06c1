"""The other half of packages/protocol/src/fixtures.test.ts, and the tables that both languages keep."""

import json
import math
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from assay_worker.protocol import (
    ANSWERED_OUTCOMES,
    FAILURE_CLASSES,
    FINAL_OUTCOMES,
    PROTOCOL_VERSION,
    REQUEST_KINDS,
    Aggregate,
    Failed,
    Failure,
    Outcome,
    Result,
    Results,
    engine_commands,
    harness_commands,
    read_message,
    worker_events,
    write_message,
)
from assay_worker.requests import INDEX_COLUMNS, INDEX_VERSION

PACKAGES = Path(__file__).parents[3] / "packages"
ADAPTERS = {"command": [engine_commands, harness_commands], "event": [worker_events]}


def read_fixtures(name: str) -> list[dict[str, Any]]:
    lines = (PACKAGES / "protocol/fixtures" / name).read_text("utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def read_all(fixture: dict[str, Any]) -> list[Any]:
    """The fixture's message as every adapter of its direction reads it; refusals are left out."""
    messages = []
    for adapter in ADAPTERS[fixture["direction"]]:
        try:
            messages.append(read_message(adapter, json.dumps(fixture["message"])))
        except ValidationError:
            continue
    return messages


@pytest.mark.parametrize("fixture", read_fixtures("happy-path.ndjson"), ids=lambda fixture: fixture["message"]["type"])
def test_accepts_and_writes_back_what_typescript_accepts(fixture: dict[str, Any]) -> None:
    messages = read_all(fixture)
    assert messages
    assert json.loads(write_message(messages[0])) == fixture["message"]


@pytest.mark.parametrize("fixture", read_fixtures("refused.ndjson"), ids=lambda fixture: fixture["why"])
def test_refuses_what_typescript_refuses(fixture: dict[str, Any]) -> None:
    assert read_all(fixture) == []


def test_floats_that_are_not_finite_go_by_name_wherever_they_stand() -> None:
    aggregate = Aggregate(
        type="aggregate", id=1, scores_dir="/s", date="d", log_samples=True, config={}, extra={"a": [math.inf, {"b": math.nan}], "c": -math.inf}
    )
    assert json.loads(write_message(aggregate))["extra"] == {"a": ["Infinity", {"b": "NaN"}], "c": "-Infinity"}
    result = Result(row=0, task=0, ordinal=0, repeat=0, window=0, outcome="ok", logprob=-math.inf)
    message = Results(type="results", shard="s0000", epoch=1, attempt=1, results=[result])
    assert json.loads(write_message(message))["results"][0]["logprob"] == "-Infinity"
    assert read_message(worker_events, write_message(message)) == message


def test_a_line_holds_no_character_that_could_end_it() -> None:
    failure = Failure(class_="unknown", message="a\nb\u2028c\u0085d\ud800")
    line = write_message(Failed(type="failed", id=1, failure=failure))
    assert line.isascii() and line.count(b"\n") == 1 and line.endswith(b"\n")
    assert json.loads(line)["failure"]["message"] == failure.message


def test_tables_equal_those_of_typescript() -> None:
    failures = (PACKAGES / "protocol/src/failure.ts").read_text("utf-8")
    table = failures[failures.index("FAILURE_CLASSES = {") : failures.index("} as const")]
    assert tuple(re.findall(r"^  (\w+): \{", table, re.MULTILINE)) == FAILURE_CLASSES
    terms = re.search(r"where: z\.enum\(\[(.*?)\]\)", failures)
    assert terms and re.findall(r"'(\w+)'", terms[1]) == ["weights", "kv", "activation", "logits", "graph"]

    domain = (PACKAGES / "domain/src/outcomes.ts").read_text("utf-8")
    outcomes = re.findall(r"^  (\w+): \{ final: (\w+), answered: (\w+),", domain, re.MULTILINE)
    assert tuple(name for name, _, _ in outcomes) == get_args(Outcome)
    assert {name for name, final, _ in outcomes if final == "true"} == FINAL_OUTCOMES
    assert {name for name, _, answered in outcomes if answered == "true"} == ANSWERED_OUTCOMES
    kinds = re.search(r"REQUEST_KINDS = \[(.*?)\]", (PACKAGES / "domain/src/requests.ts").read_text("utf-8"))
    assert kinds and tuple(re.findall(r"'(\w+)'", kinds[1])) == REQUEST_KINDS

    index = (PACKAGES / "protocol/src/request-index.ts").read_text("utf-8")
    columns = re.search(r"INDEX_COLUMNS = \[(.*?)\]", index, re.DOTALL)
    assert columns and tuple(re.findall(r"'(\w+)'", columns[1])) == INDEX_COLUMNS
    assert f"INDEX_VERSION = {INDEX_VERSION};" in index
    assert f"PROTOCOL_VERSION = {PROTOCOL_VERSION};" in (PACKAGES / "protocol/src/messages.ts").read_text("utf-8")
