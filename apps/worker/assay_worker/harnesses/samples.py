"""One line of samples_*.jsonl: what lm_eval logs of a document and a filter, key by key in its order."""

import json
from typing import Any

from lm_eval.api.instance import Instance
from lm_eval.api.task import Task
from lm_eval.utils import handle_non_serializable, hash_string, sanitize_list


def build_sample(
    task: Task, filter_name: str, number: int, document: Any, instances: list[Instance], metrics: dict[str, Any]
) -> dict[str, Any]:
    target = _read_target(task, document)
    dumped = json.dumps(instances[0].doc, indent=2, default=handle_non_serializable, ensure_ascii=False)
    return {
        "doc_id": number,
        "doc": document,
        "target": target,
        "arguments": [instance.args for instance in instances],
        "resps": [instance.resps for instance in instances],
        "filtered_resps": [instance.filtered_resps[filter_name] for instance in instances],
        "filter": filter_name,
        "metrics": list(metrics),
        "doc_hash": hash_string(dumped),
        "prompt_hash": hash_string(instances[0].arguments[0]),
        "target_hash": hash_string(str(target)),
        **metrics,
    }


def _read_target(task: Task, document: Any) -> Any:
    """Only logged here; a task whose scorer does not need it may not have it."""
    try:
        return task.doc_to_target(document)
    except Exception:
        return None


def dump_sample(sample: dict[str, Any]) -> dict[str, Any]:
    """As lm_eval writes it: arguments by name, answers and target as texts."""
    arguments = {
        f"gen_args_{place}": {f"arg_{number}": value for number, value in enumerate(values)}
        for place, values in enumerate(sample["arguments"])
    }
    texts = {key: sanitize_list(sample[key]) for key in ("resps", "filtered_resps")}
    return sample | texts | {"arguments": arguments, "target": str(sample["target"])}


def digest_task(samples: list[dict[str, Any]]) -> str:
    return hash_string("".join(sample["doc_hash"] + sample["prompt_hash"] + sample["target_hash"] for sample in samples))
