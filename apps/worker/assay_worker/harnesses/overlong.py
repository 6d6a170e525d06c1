"""Prompts longer than the window: cut or refused as the run asks, counted either way."""

from typing import Any

import numpy as np

from assay_worker.harnesses.refusals import Refusal
from assay_worker.harnesses.request_table import RequestTable
from assay_worker.harnesses.session import TaskPart
from assay_worker.protocol import Render


def refuse_overlong(command: Render, table: RequestTable, parts: list[TaskPart], window: int) -> None:
    if command.overlong != "refuse" or not len(table):
        return
    rows = np.flatnonzero(table.read_column("truncatedTokens"))
    if not len(rows):
        return
    first = int(rows[0])
    part = next(part for part in parts if part.rows[0] <= first < part.rows[1])
    instance = part.instances[int(table.read_column("ordinal", first, first + 1)[0])]
    document = part.numbers.get(instance.doc_id or 0, instance.doc_id)
    details: dict[str, Any] = {"count": len(rows), "window": window, "first": f"task {part.name}, document {document}"}
    raise Refusal("PROMPT_TOO_LONG", details)


def describe_truncation(task: str, cut: Any, merged: list[tuple[int, int]]) -> list[str]:
    warnings = []
    count = int((cut > 0).sum())
    if count:
        warnings.append(f"task {task}: {count} prompts are longer than the window and lose {int(cut.sum())} tokens of their context")
    if merged:
        document, choice = merged[0]
        warnings.append(
            f"task {task}: {len(merged)} continuations merge with their context and have no token of their own (first: document "
            f"{document}, choice {choice}); as in lm_eval their log-likelihood is 0"
        )
    return warnings
