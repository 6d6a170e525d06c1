"""Scores LaTeX answers by value: \\frac{2}{4} equals \\frac{1}{2}, and so does 0.5. An answer that holds no expression is wrong."""

from __future__ import annotations

from typing import Any

from math_verify import parse, verify


def process_results(doc: dict[str, Any], results: list[str]) -> dict[str, int]:
    """Compares the first line of the answer with the document's, both as mathematics."""
    answer = results[0].strip().split("\n", 1)[0]
    return {"math_verify": int(verify(parse(doc["answer"]), parse(answer)))}
