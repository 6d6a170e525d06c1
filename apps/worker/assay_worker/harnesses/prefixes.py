"""Numbers the contexts of a run: equal ones share a group, groups ascend in the order of their token ids, heads are found.

Works on the ids in the file, one task's contexts in memory at a time.
"""

import hashlib
import heapq
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay_worker.harnesses.request_table import RequestTable

MIN_HEAD_TOKENS = 32
# Where not all contexts share a head, this share of them on either side of the order may lack it.
_OUTLIERS = 0.05

Ids = npt.NDArray[np.uint32]


@dataclass
class TaskContexts:
    """The distinct contexts of one task. `places`: of each row, which; `order`: the distinct ones, sorted."""

    begin: int
    end: int
    spans: list[tuple[int, int]]
    places: npt.NDArray[np.int64]
    order: list[int]
    head_tokens: int
    with_head: npt.NDArray[np.bool_]


def number_prefixes(table: RequestTable, ranges: list[tuple[int, int]]) -> None:
    """Sets the columns prefixGroup, head and headTokens. `ranges`: the rows of each task."""
    tokens = table.map_tokens()
    tasks = [_read_contexts(table, tokens, begin, end) for begin, end in ranges]
    groups = np.zeros(len(table), dtype=np.uint32)
    heads = np.zeros(len(table), dtype=np.uint32)
    lengths = np.zeros(len(table), dtype=np.uint32)
    numbers = [np.zeros(len(task.spans), dtype=np.uint32) for task in tasks]
    merged = heapq.merge(*(_walk(tokens, place, task) for place, task in enumerate(tasks)))
    for number, (_, place, context) in enumerate(merged):
        numbers[place][context] = number
    head = 0
    for task, of_task in zip(tasks, numbers, strict=True):
        rows = slice(task.begin, task.end)
        groups[rows] = of_task[task.places]
        if task.head_tokens:
            head += 1
            shared = task.with_head[task.places]
            heads[rows] = np.where(shared, head, 0)
            lengths[rows] = np.where(shared, task.head_tokens, 0)
    for name, values in (("prefixGroup", groups), ("head", heads), ("headTokens", lengths)):
        table.set_column(name, values)


def _walk(tokens: Ids, place: int, task: TaskContexts) -> Iterator[tuple[bytes, int, int]]:
    for context in task.order:
        yield _key(tokens, *task.spans[context]), place, context


def _key(tokens: Ids, start: int, end: int) -> bytes:
    """Bytes that compare as the ids do."""
    return tokens[start:end].astype(">u4").tobytes()


def _read_contexts(table: RequestTable, tokens: Ids, begin: int, end: int) -> TaskContexts:
    offsets = table.read_offsets(begin, end).astype(np.int64)
    lengths = table.read_column("contextTokens", begin, end).astype(np.int64)
    known: dict[Any, int] = {}
    spans: list[tuple[int, int]] = []
    places = np.empty(end - begin, dtype=np.int64)
    for row, (start, length) in enumerate(zip(offsets.tolist(), lengths.tolist(), strict=True)):
        digest = hashlib.blake2b(tokens[start : start + length].tobytes(), digest_size=16).digest()
        places[row] = known.setdefault(digest, len(spans))
        if places[row] == len(spans):
            spans.append((start, start + length))
    common = _find_common(tokens, spans)
    order = sorted(range(len(spans)), key=lambda place: _key(tokens, spans[place][0] + common, spans[place][1]))
    head_tokens = _find_head(tokens, [spans[place] for place in order], common)
    middle = spans[order[len(order) // 2]][0] if spans else 0
    head = tokens[middle : middle + head_tokens]
    with_head = np.array([bool(head_tokens) and _starts_with(tokens, span, head) for span in spans], dtype=bool)
    return TaskContexts(begin, end, spans, places, order, head_tokens, with_head)


def _find_common(tokens: Ids, spans: list[tuple[int, int]]) -> int:
    """Leading ids that all contexts share; they need not be compared again."""
    if not spans:
        return 0
    first = tokens[spans[0][0] : spans[0][1]]
    common = len(first)
    for start, end in spans[1:]:
        common = min(common, _count_equal(first[:common], tokens[start:end]))
        if common == 0:
            break
    return common


def _find_head(tokens: Ids, ordered: list[tuple[int, int]], common: int) -> int:
    """Tokens of the few-shot head: shared by all contexts, or by all but the outliers at both ends of the order."""
    if len(ordered) < 2:
        return 0
    if common < MIN_HEAD_TOKENS:
        skip = int(len(ordered) * _OUTLIERS)
        (low, low_end), (high, high_end) = ordered[skip], ordered[len(ordered) - 1 - skip]
        common = _count_equal(tokens[low:low_end], tokens[high:high_end])
    return common if common >= MIN_HEAD_TOKENS else 0


def _count_equal(left: Ids, right: Ids) -> int:
    length = min(len(left), len(right))
    different = np.flatnonzero(left[:length] != right[:length])
    return int(different[0]) if len(different) else length


def _starts_with(tokens: Ids, span: tuple[int, int], head: Any) -> bool:
    start, end = span
    return end - start >= len(head) and np.array_equal(tokens[start : start + len(head)], head)
