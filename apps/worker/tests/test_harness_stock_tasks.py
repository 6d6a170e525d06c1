"""lm_eval's own tasks are found without its full index, and found to be the same."""

import random

from lm_eval.tasks._index import Entry, Kind, TaskIndex

from assay_worker.harnesses.stock_tasks import STOCK_FOLDER, scan_stock_tasks
from assay_worker.harnesses.task_registry import open_registry

SAMPLED = 800


def describe(entry: Entry) -> tuple[Kind, str, list[str]]:
    return entry.kind, str(entry.yaml_path), sorted(entry.tags)


def test_every_name_is_known_and_every_entry_is_that_of_the_full_index() -> None:
    full = TaskIndex.build([STOCK_FOLDER])
    assert set(scan_stock_tasks().files) == set(full)
    registry = open_registry([])
    names = sorted(full)
    odd = [name for name in names if full[name].kind in (Kind.TAG, Kind.PY_TASK)]
    for name in {*odd, *random.Random(0).sample(names, SAMPLED)}:
        assert describe(registry[name]) == describe(full[name]), name
