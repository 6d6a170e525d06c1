"""AGGREGATE: writes results_<date>.json and samples_<task>_<date>.jsonl, each whole or not at all."""

import json
import math
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lm_eval.evaluator_utils import EvalAcc
from lm_eval.utils import _build_hierarchy_info, handle_non_serializable

from assay_worker.harnesses.document_metrics import list_metrics
from assay_worker.harnesses.groups import GroupScore, add_groups
from assay_worker.harnesses.metric_rows import build_group_rows, build_task_rows
from assay_worker.harnesses.results import collect_scored, describe_experiment, describe_run, describe_surroundings
from assay_worker.harnesses.samples import dump_sample
from assay_worker.harnesses.score import list_filters
from assay_worker.harnesses.session import Session, TaskPart
from assay_worker.protocol import Aggregate, Aggregated, MetricRow, encode_float


def aggregate(session: Session, command: Aggregate) -> Aggregated:
    clock = time.perf_counter()
    folder = Path(command.scores_dir)
    folder.mkdir(parents=True, exist_ok=True)
    date = re.sub(r"[^\w.+-]", "-", command.date)
    scored = collect_scored(session)
    groups = add_groups(session, scored)
    main: dict[str, Any] = dict(scored._to_eval_results())
    config = describe_run(session, command.config)
    seconds = time.time() - session.started
    results = {
        **main,
        "config": config,
        **describe_surroundings(session),
        **describe_experiment(session, str(config["model"]), seconds, command.log_samples),
        **command.extra,
    }
    samples = [_write_samples(folder, part, date) for part in session.parts if part.score is not None and command.log_samples]
    results_file = folder / f"results_{date}.json"
    write_whole(results_file, [dump_json(results, indent=2)])
    return Aggregated(
        type="aggregated",
        id=command.id,
        seconds=time.perf_counter() - clock,
        results_file=str(results_file),
        samples_files=[str(path) for path in samples],
        rows=list_rows(session, scored, main, groups),
    )


def _write_samples(folder: Path, part: TaskPart, date: str) -> Path:
    path = folder / f"samples_{part.name.replace('/', '_')}_{date}.jsonl"
    assert part.score is not None
    write_whole(path, (dump_json(dump_sample(sample)) + "\n" for sample in part.score.samples))
    return path


def list_rows(session: Session, scored: EvalAcc, main: dict[str, Any], groups: dict[str, GroupScore]) -> list[MetricRow]:
    """In the order of lm_eval's table. A task without a score stands there too, with the reason."""
    parts = {part.name: part for part in session.parts}
    names = {**dict.fromkeys(parts), **dict.fromkeys(main["results"])}
    _, ordered = _build_hierarchy_info(main["group_subtasks"], set(names))
    rows: list[MetricRow] = []
    for name in ordered:
        part = parts.get(name)
        if part is not None and part.score is not None:
            rows += part.score.rows
        elif part is not None:
            missing = {f"{metric},{one}": "not scored" for metric in list_metrics(part.task) for one in list_filters(part)}
            rows += build_task_rows(part, {}, missing)
        else:
            rows += build_group_rows(groups[name], main["n-shot"].get(name), dict(scored.metrics[name]), main["higher_is_better"].get(name, {}))
    return rows


def dump_json(value: Any, indent: int | None = None) -> str:
    """JSON that every parser takes: numbers that are not finite go by name. ASCII only where a text holds a lone surrogate."""
    finite = name_non_finite(value)
    text = json.dumps(finite, indent=indent, default=_serialise, ensure_ascii=False, allow_nan=False)
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return json.dumps(finite, indent=indent, default=_serialise, allow_nan=False)


def name_non_finite(value: Any) -> Any:
    """lm_eval's table maker formats a standard error as a number, so one that is not finite becomes its "N/A"."""
    if isinstance(value, dict):
        return {key: _name_entry(key, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [name_non_finite(item) for item in value]
    if isinstance(value, float):
        return encode_float(float(value))
    return value


def _name_entry(key: Any, value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value) and "_stderr," in str(key):
        return "N/A"
    return name_non_finite(value)


def _serialise(value: Any) -> Any:
    return name_non_finite(handle_non_serializable(value))


def write_whole(path: Path, chunks: list[str] | Iterator[str]) -> None:
    temporary = path.with_name(path.name + ".writing")
    try:
        with temporary.open("w", encoding="utf-8", newline="\n") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
