"""Compares a run directory of Assay with what peer.py wrote of lm_eval's own run: prompts, answers, scores.

Usage: python bench/parity/compare.py RUN_DIR peer.json [--json FILE] [--max_delta 1e-3] [--max_texts 0.05]
The last line is for scripts: `parity PASS|FAIL requests=… tokens=… delta=… texts=… samples=… metrics=…`. Exit 0 or 1.
"""

import argparse
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "apps/worker"))

from assay_worker.requests import RequestFiles

Key = tuple[str, int, int, int]
SHOWN = 20


@dataclass
class Report:
    """`problems` are what fails the comparison; `texts` are differing generations, of which a share is allowed."""

    requests: int = 0
    same_tokens: int = 0
    generations: int = 0
    max_delta: float = 0.0
    texts: list[str] = field(default_factory=list)
    samples: int = 0
    same_samples: int = 0
    metrics: int = 0
    same_metrics: int = 0
    problems: list[str] = field(default_factory=list)


def read_task_names(scores: dict[str, Any]) -> list[str]:
    """By their number in the index: the results file counts its samples in that order, groups left out."""
    return list(scores["n-samples"])


def read_scores(run: Path) -> dict[str, Any]:
    newest = max(run.glob("scores/results_*.json"), key=lambda path: path.stat().st_mtime)
    scores: dict[str, Any] = json.loads(newest.read_text("utf-8"))
    return scores


def read_results(run: Path) -> dict[int, dict[str, Any]]:
    """Final results by row; among several the lowest (epoch, attempt, line) counts."""
    found: dict[int, tuple[Any, dict[str, Any]]] = {}
    for path in run.glob("results/*.ndjson"):
        epoch, _, rest = path.stem.partition("-")
        attempt = rest.rpartition("-")[2]
        for line, text in enumerate(path.read_bytes().split(b"\n")):
            try:
                result = json.loads(text)
            except ValueError:
                continue  # a torn last line
            rank = (int(epoch), int(attempt), line)
            if result.get("outcome") in ("ok", "truncated", "length") and (result["row"] not in found or rank < found[result["row"]][0]):
                found[result["row"]] = (rank, result)
    return {row: result for row, (_, result) in found.items()}


def compare_requests(run: Path, peer: dict[str, Any], names: list[str], limits: Any, report: Report) -> set[tuple[str, int]]:
    """Returns (task, ordinal) of generations whose text differs."""
    files, results = RequestFiles(run / "requests"), read_results(run)
    ours: dict[Key, Any] = {}
    for row in range(files.count):
        request = files.read(row)
        ours[(names[request.task], request.ordinal, request.repeat, request.window)] = (request, results.get(row))
    report.requests = len(peer["requests"])
    differing = set()
    for theirs in peer["requests"]:
        key = (theirs["task"], theirs["ordinal"], theirs["repeat"], theirs["window"])
        request, result = ours.pop(key, (None, None))
        if request is None or result is None:
            report.problems.append(f"{key}: {'not rendered' if request is None else 'no final result'}")
            continue
        if (request.tokens, request.context_tokens) == (theirs["tokens"], theirs["contextTokens"]):
            report.same_tokens += 1
        else:
            report.problems.append(f"{key}: the prompts differ")
        if "text" in theirs:
            report.generations += 1
            if result["text"] != theirs["raw"]:
                differing.add(key[:2])
                report.texts.append(f"{key}: {result['text']!r} where lm_eval has {theirs['raw']!r}")
        else:
            compare_sums(key, result, theirs, limits.max_delta, report)
    report.problems += [f"{key}: lm_eval did not ask this" for key in ours]
    return differing


def compare_sums(key: Key, result: dict[str, Any], theirs: dict[str, Any], max_delta: float, report: Report) -> None:
    delta = abs(float(result["logprob"]) - theirs["logprob"])
    report.max_delta = max(report.max_delta, delta)
    if not delta <= max_delta:
        report.problems.append(f"{key}: log-likelihood {result['logprob']} where lm_eval has {theirs['logprob']}")
    if theirs["kind"] == "loglikelihood" and result.get("greedy") != theirs["greedy"]:
        report.problems.append(f"{key}: greedy {result.get('greedy')} where lm_eval has {theirs['greedy']}")


def compare_samples(run: Path, peer: dict[str, Any], differing: set[tuple[str, int]], max_delta: float, report: Report) -> None:
    """A sample whose text differs may score otherwise; every other one must not."""
    excused = {task for task, _ in differing}
    for task, theirs in peer["samples"].items():
        lines = read_samples(run, task)
        for sample in theirs:
            report.samples += 1
            ours = lines.get((sample["doc_id"], sample["filter"]))
            if ours is None:
                report.problems.append(f"{task}, document {sample['doc_id']}, {sample['filter']}: no sample")
                continue
            wrong = [name for name, value in sample["metrics"].items() if not is_near(ours.get(name), value, max_delta)]
            hashes = [name for name in ("doc_hash", "prompt_hash", "target_hash") if ours[name] != sample[name]]
            if not wrong and not hashes:
                report.same_samples += 1
            elif hashes or task not in excused:
                report.problems.append(f"{task}, document {sample['doc_id']}, {sample['filter']}: {', '.join(wrong + hashes)} differ")


def read_samples(run: Path, task: str) -> dict[tuple[int, str], Any]:
    """Of the newest scores."""
    paths = sorted(run.glob(f"scores/samples_{task.replace('/', '_')}_*.jsonl"), key=lambda path: path.stat().st_mtime)
    lines = [json.loads(line) for line in paths[-1].read_text("utf-8").split("\n") if line] if paths else []
    return {(line["doc_id"], line["filter"]): line for line in lines}


def compare_metrics(run: Path, peer: dict[str, Any], differing: set[tuple[str, int]], max_delta: float, report: Report) -> None:
    ours = read_scores(run)["results"]
    excused = {task for task, _ in differing}
    for task, values in peer["results"].items():
        for name, value in values.items():
            if "," not in name:
                continue
            report.metrics += 1
            found = ours.get(task, {}).get(name)
            if is_near(found, value, max_delta, relative=1e-4):
                report.same_metrics += 1
            elif task not in excused and not excused.intersection(peer.get("groups", {})):
                report.problems.append(f"{task} {name}: {found} where lm_eval has {value}")


def is_near(ours: Any, theirs: Any, max_delta: float, relative: float = 0.0) -> bool:
    """Whole numbers and texts must be equal; a value made of log-likelihoods may be off by what they are off by."""
    if isinstance(theirs, (list, tuple)):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(lambda a, b: is_near(a, b, max_delta), ours, theirs))
    if isinstance(theirs, float) and not float(theirs).is_integer() and isinstance(ours, (int, float)):
        return abs(ours - theirs) <= max(max_delta, relative * abs(theirs))
    return bool(ours == theirs)


def print_report(report: Report, asked: Any) -> bool:
    share = len(report.texts) / report.generations if report.generations else 0.0
    if share > asked.max_texts:
        report.problems.append(f"{share:.1%} of the texts differ, {asked.max_texts:.1%} are allowed")
    for title, lines in (("differing text", report.texts), ("problem", report.problems)):
        for line in lines[:SHOWN]:
            print(f"{title}: {line}")
        if len(lines) > SHOWN:
            print(f"… and {len(lines) - SHOWN} more")
    passed = not report.problems
    print(
        f"parity {'PASS' if passed else 'FAIL'} requests={report.requests} tokens={report.same_tokens}/{report.requests} "
        f"delta={report.max_delta:.3g} texts={len(report.texts)}/{report.generations} "
        f"samples={report.same_samples}/{report.samples} metrics={report.same_metrics}/{report.metrics}"
    )
    return passed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path)
    parser.add_argument("peer", type=Path)
    parser.add_argument("--json", type=Path, help="also write the report there")
    parser.add_argument("--max_delta", type=float, default=1e-3)
    parser.add_argument("--max_texts", type=float, default=0.05)
    asked = parser.parse_args()
    peer = json.loads(asked.peer.read_text("utf-8"))
    report = Report()
    differing = compare_requests(asked.run, peer, read_task_names(read_scores(asked.run)), asked, report)
    compare_samples(asked.run, peer, differing, asked.max_delta, report)
    compare_metrics(asked.run, peer, differing, asked.max_delta, report)
    passed = print_report(report, asked)
    if asked.json:
        asked.json.write_text(json.dumps(vars(report), indent=1) + "\n", encoding="utf-8")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
