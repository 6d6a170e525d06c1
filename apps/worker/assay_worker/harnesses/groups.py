"""Scores of groups, by lm_eval's own weighting. A group with a part missing has no number.

Which mean a number is, over samples or over tasks, is said with it; where the two differ both are given.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal

from lm_eval.api.group import Group
from lm_eval.evaluator_utils import EvalAcc, _collect_groups_bottom_up

from assay_worker.harnesses.session import Session

Mean = Literal["by_sample", "by_task"]

# Of a group's result these are not metrics.
_FACTS = {"name", "alias", "sample_len", "sample_count"}


@dataclass(frozen=True)
class GroupScore:
    """`reasons`: why a metric has no value, by lm_eval's key. `others`: the group's values by the mean that it did not ask for."""

    reasons: dict[str, str]
    others: dict[str, Any]
    group: Group

    def name_mean(self, metric: str, is_other: bool = False) -> Mean:
        asked = next(one.weight_by_size for one in self.group.aggregate_metric_list or [] if one.metric == metric)
        return "by_sample" if asked != is_other else "by_task"


def add_groups(session: Session, results: EvalAcc) -> dict[str, GroupScore]:
    """Adds the groups' values to `results`; returns what else there is to say of each group."""
    scored = {part.name: part.score for part in session.parts if part.score is not None}
    found: dict[str, GroupScore] = {}
    for group in _collect_groups_bottom_up(session.groups):
        members = [task.task_name for task in group.get_all_tasks()]
        missing = [name for name in members if name not in scored]
        faulty = {key: name for name in members if name in scored for key in scored[name].errors}
        known: Any = {name: {key: value for key, value in results.metrics[name].items() if value is not None} for name in members if name in scored}
        values: dict[str, Any] = dict(group.aggregate(known))
        reasons = _find_reasons(group, values, missing, faulty)
        others = _drop(dict(_swap_means(group).aggregate(known)), [*reasons, *_list_equal(values, group, known)])
        found[group.name] = GroupScore(reasons, others, group)
        results.metrics[group.name] = _drop(values, reasons)
        results.versions[group.name] = group.version
    return found


def _drop(values: dict[str, Any], keys: Any) -> dict[str, Any]:
    gone = {name for key in keys for name in (key, "_stderr,".join(key.split(",", 1)))}
    return {key: value for key, value in values.items() if key not in gone}


def _swap_means(group: Group) -> Group:
    """lm_eval's own arithmetic for the other mean."""
    asked = group.aggregate_metric_list or []
    return replace(group, aggregate_metric_list=[replace(one, weight_by_size=not one.weight_by_size) for one in asked])


def _list_equal(values: dict[str, Any], group: Group, known: dict[str, Any]) -> list[str]:
    """Over parts of one size the two means are the same."""
    sizes = {known[task.task_name].get("sample_len") for task in group.get_all_tasks() if task.task_name in known}
    return _list_keys(values) if len(sizes) < 2 else []


def _list_keys(values: dict[str, Any]) -> list[str]:
    return [key for key in values if key not in _FACTS and not key.partition(",")[0].endswith("_stderr")]


def _find_reasons(group: Group, values: dict[str, Any], missing: list[str], faulty: dict[str, str]) -> dict[str, str]:
    if not group.has_aggregation:
        return {}
    found = set(_list_keys(values))
    wanted = {metric.metric: metric.filter_list or ["none"] for metric in group.aggregate_metric_list or []}
    reasons = {key: f"not scored in {name}" for key, name in faulty.items() if key.partition(",")[0] in wanted}
    if missing:
        keys = found or {f"{metric},none" for metric in wanted}
        return reasons | dict.fromkeys(keys, f"incomplete: {', '.join(missing)} not scored")
    for metric, filters in wanted.items():
        if not any(key.partition(",")[0] == metric for key in found | reasons.keys()):
            reasons |= dict.fromkeys([f"{metric},{name}" for name in filters], "none of its tasks has this metric")
    return reasons
