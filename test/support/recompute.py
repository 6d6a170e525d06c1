"""Recomputes the demo's metrics from samples_*.jsonl by rules of its own and compares them with results_*.json.

    python3 test/support/recompute.py FOLDER

FOLDER holds the files of one or more evaluations at any depth; the newest results file counts. One line a metric.
Exit 0: all agree. 1: one does not. 2: nothing to compare. Uses the standard library only: nothing of lm_eval, nothing of Assay.
"""

from __future__ import annotations

import json
import math
import re
import string
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

Row = dict[str, Any]
TOLERANCE = 1e-9


def score_acc(row: Row) -> float:
    """1 where the choice with the highest log-likelihood is the right one; the first wins a tie."""
    return float(pick_highest(read_likelihoods(row)) == int(row["target"]))


def score_acc_norm(row: Row) -> float:
    """As acc, per character of the choice."""
    choices = [argument["arg_1"].removeprefix(" ") for argument in row["arguments"].values()]
    values = [value / len(choice) for value, choice in zip(read_likelihoods(row), choices, strict=True)]
    return float(pick_highest(values) == int(row["target"]))


def score_exact_match(row: Row) -> float:
    """Compares the raw answer with the target, after the task's own extraction."""
    extract = find_code if "code" in row["doc"] else normalise
    return float(extract(row["resps"][0][0]) == extract(row["target"]))


def score_maths(row: Row) -> float | None:
    """Compares as fractions. None where the answer is neither a whole number nor a fraction: this script cannot tell."""
    answer = read_fraction(row["resps"][0][0].strip().split("\n", 1)[0])
    if answer is None:
        return None
    return float(answer == read_fraction(row["doc"]["answer"]))


def read_likelihoods(row: Row) -> list[float]:
    return [float(pair[0]) for pair in row["filtered_resps"]]


def pick_highest(values: list[float]) -> int:
    return max(range(len(values)), key=lambda place: (values[place], -place))


def normalise(text: str) -> str:
    return text.strip().lower().translate(str.maketrans("", "", string.punctuation))


def find_code(text: str) -> str:
    found = re.search(r"\d{4}", text)
    return found.group() if found else "[invalid]"


def read_fraction(text: str) -> Fraction | None:
    """The value of "$7$" or "$\\frac{3}{4}$", alone in `text`."""
    match = re.fullmatch(r"\$\s*(?:\\frac\{(-?\d+)\}\{(\d+)\}|(-?\d+))\s*\$\.?", text)
    if match is None:
        return None
    top, bottom, whole = match.groups()
    if whole is not None:
        return Fraction(int(whole))
    return Fraction(int(top), int(bottom)) if int(bottom) else None


RULES: dict[str, Callable[[Row], float | None]] = {
    "acc": score_acc,
    "acc_norm": score_acc_norm,
    "exact_match": score_exact_match,
    "math_verify": score_maths,
}


def compute_stderr(values: list[float]) -> float:
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))


def compare_task(task: str, reported: Row, rows: list[Row]) -> list[tuple[str, bool]]:
    """One (line, agrees) for each metric of the task that this script knows."""
    lines = []
    for key, value in reported.items():
        metric, _, filter_name = key.partition(",")
        if metric not in RULES:
            continue
        scored = [row for row in rows if row["filter"] == filter_name]
        own = [RULES[metric](row) for row in scored]
        theirs = [float(row[metric]) for row in scored]
        undecided = own.count(None)
        wrong = [row["doc_id"] for row, mine, other in zip(scored, own, theirs, strict=True) if mine is not None and mine != other]
        values = [other if mine is None else mine for mine, other in zip(own, theirs, strict=True)]
        mean = sum(values) / len(values) if values else math.nan
        agrees = not wrong and undecided < len(values) and math.isclose(mean, float(value), abs_tol=TOLERANCE)
        stderr = reported.get(f"{metric}_stderr,{filter_name}")
        if isinstance(stderr, (int, float)) and len(values) > 1:
            agrees = agrees and math.isclose(compute_stderr(values), stderr, abs_tol=TOLERANCE)
        note = f", {undecided} undecided" if undecided else ""
        note += f", other scores on documents {wrong[:5]}" if wrong else ""
        lines.append((f"{task} {key}: reported {value}, recomputed {mean} from {len(values)} samples{note}", agrees))
    return lines


def compare_group(group: str, reported: Row, members: list[Row]) -> list[tuple[str, bool]]:
    """A group's value is the mean of its tasks' values, weighted by their samples."""
    lines = []
    for key, value in reported.items():
        having = [member for member in members if key in member]
        if key.partition(",")[0] not in RULES or not having:
            continue
        samples = sum(member["sample_len"] for member in having)
        mean = sum(member[key] * member["sample_len"] for member in having) / samples
        agrees = math.isclose(mean, float(value), abs_tol=TOLERANCE)
        lines.append((f"{group} {key}: reported {value}, recomputed {mean} from {len(having)} tasks", agrees))
    return lines


def compare_folder(folder: Path) -> list[tuple[str, bool]]:
    results_file = max(folder.rglob("results_*.json"), key=lambda path: path.stat().st_mtime_ns, default=None)
    if results_file is None:
        return []
    results = json.loads(results_file.read_text(encoding="utf-8"))
    date = results_file.stem.removeprefix("results_")
    lines = []
    for task in results["configs"]:
        samples_file = results_file.with_name(f"samples_{task}_{date}.jsonl")
        # Only "\n" ends a record: str.splitlines would also cut at U+2028 inside a string.
        text = samples_file.read_text(encoding="utf-8")
        rows = [json.loads(line) for line in text.split("\n") if line]
        lines += compare_task(task, results["results"][task], rows)
    for group, reported in results.get("groups", {}).items():
        members = [results["results"][name] for name in results["group_subtasks"].get(group, []) if name in results["configs"]]
        lines += compare_group(group, reported, members)
    return lines


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    lines = compare_folder(Path(sys.argv[1]))
    for line, agrees in lines:
        print(f"{'agrees ' if agrees else 'DIFFERS'} {line}")
    if not lines:
        print("nothing to compare", file=sys.stderr)
        return 2
    return 0 if all(agrees for _, agrees in lines) else 1


if __name__ == "__main__":
    sys.exit(main())
