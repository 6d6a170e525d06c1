"""The same lines as packages/domain/src/secrets.test.ts: both languages leave out the same secrets."""

import json
from pathlib import Path
from typing import Any

import pytest

from assay_worker.secrets import is_secret_key, redact_secrets

FIXTURE = Path(__file__).parents[3] / "packages/protocol/fixtures/secrets.ndjson"
LINES = [json.loads(line) for line in FIXTURE.read_text("utf-8").split("\n") if line]


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['kind']} {str(line['given'])[:40]}")
def test_leaves_out_what_typescript_leaves_out(line: dict[str, Any]) -> None:
    assert {"key": is_secret_key, "value": redact_secrets}[line["kind"]](line["given"]) == line["written"]


def test_returns_other_values_as_they_are() -> None:
    path = Path("/a")
    assert redact_secrets({"path": path, "both": (1, "x")}) == {"path": path, "both": [1, "x"]}
