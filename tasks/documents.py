"""Loads a task's documents from tasks/data, wherever lm_eval was started: paths in task files are relative to the working directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import datasets

DATA = Path(__file__).resolve().parent / "data"


def load(file: str, **_metadata: Any) -> dict[str, datasets.Dataset]:
    """Splits the rows of `file` by their own `split`. lm_eval passes the task's metadata as well."""
    splits: dict[str, list[dict[str, Any]]] = {}
    with open(DATA / file, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            splits.setdefault(row.pop("split"), []).append(row)
    return {split: datasets.Dataset.from_list(rows) for split, rows in splits.items()}
