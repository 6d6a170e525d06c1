"""Scores of groups, by lm_eval's own weighting. A group with a part missing has no number."""

from typing import Any

from lm_eval.api.group import Group
from lm_eval.evaluator_utils import EvalAcc, _collect_groups_bottom_up

from assay_worker.harnesses.session import Session

# Of a group's result these are not metrics.
_FACTS = {"name", "alias", "sample_len", "sample_count"}


def add_groups(session: Session, results: EvalAcc) -> dict[str, dict[str, str]]:
    """Adds the groups' values to `results`; returns why some metrics of some groups have none."""
    scored = {part.name: part.score for part in session.parts if part.score is not None}
    reasons: dict[str, dict[str, str]] = {}
    for group in _collect_groups_bottom_up(session.groups):
        members = [task.task_name for task in group.get_all_tasks()]
        missing = [name for name in members if name not in scored]
        faulty = {key: name for name in members if name in scored for key in scored[name].errors}
        values = dict(group.aggregate(results.metrics))
        reasons[group.name] = _find_reasons(group, values, missing, faulty)
        for key in reasons[group.name]:
            metric, _, filter_name = key.partition(",")
            for gone in (key, f"{metric}_stderr,{filter_name}"):
                values.pop(gone, None)
        results.metrics[group.name] = values
        results.versions[group.name] = group.version
    return reasons


def _find_reasons(group: Group, values: dict[str, Any], missing: list[str], faulty: dict[str, str]) -> dict[str, str]:
    if not group.has_aggregation:
        return {}
    found = {key for key in values if key not in _FACTS and not key.partition(",")[0].endswith("_stderr")}
    wanted = {metric.metric for metric in group.aggregate_metric_list or []}
    reasons = {key: f"not scored in {name}" for key, name in faulty.items() if key.partition(",")[0] in wanted}
    if missing:
        keys = found or {f"{metric},none" for metric in wanted}
        reasons |= dict.fromkeys(keys, f"incomplete: {', '.join(missing)} not scored")
    return reasons
