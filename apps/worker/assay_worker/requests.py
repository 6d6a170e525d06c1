"""Reads the run's requests from disk: index.bin (columns), tokens.bin (prompts), params.json (generation parameters).

The layout is stated in packages/protocol/src/request-index.ts. Files are mapped, not read, so a worker holds only what it runs.
"""

import json
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay_worker.protocol import REQUEST_KINDS, RequestKind

INDEX_MAGIC = b"ASSAYREQ"
INDEX_VERSION = 1
HEADER_BYTES = 16
INDEX_COLUMNS = (
    "task", "ordinal", "repeat", "window", "kind", "contextTokens", "continuationTokens", "newTokenBudget", "prefixGroup",
    "head", "headTokens", "parameterSet", "truncatedTokens",
)  # fmt: skip


class RequestFilesError(ValueError):
    """The files of requests/ are not what they should be."""


@dataclass(frozen=True)
class Request:
    """One call of the engine. Its key is (task, ordinal, repeat, window); `row` is its place in index.bin."""

    row: int
    task: int
    ordinal: int
    repeat: int
    window: int
    kind: RequestKind
    context_tokens: int
    continuation_tokens: int
    new_token_budget: int
    truncated_tokens: int
    tokens: list[int]
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def is_scoring(self) -> bool:
        return self.kind != "generate_until"


class RequestFiles:
    """The requests of one run directory, by row."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count, self._offsets, self._columns = _map_index(folder / "index.bin")
        self._tokens = _map_words(folder / "tokens.bin")

    @cached_property
    def parameter_sets(self) -> list[dict[str, Any]]:
        sets: list[dict[str, Any]] = json.loads((self.folder / "params.json").read_text("utf-8"))["sets"]
        return sets

    def read(self, row: int) -> Request:
        if not 0 <= row < self.count:
            raise RequestFilesError(f"no request {row}: index.bin holds {self.count}")
        value = {name: int(column[row]) for name, column in self._columns.items()}
        start = int(self._offsets[row])
        end = start + value["contextTokens"] + value["continuationTokens"]
        if end > len(self._tokens):
            raise RequestFilesError(f"request {row} ends at token {end}, tokens.bin holds {len(self._tokens)}")
        return Request(
            row=row,
            task=value["task"],
            ordinal=value["ordinal"],
            repeat=value["repeat"],
            window=value["window"],
            kind=REQUEST_KINDS[value["kind"]],
            context_tokens=value["contextTokens"],
            continuation_tokens=value["continuationTokens"],
            new_token_budget=value["newTokenBudget"],
            truncated_tokens=value["truncatedTokens"],
            tokens=self._tokens[start:end].tolist(),
            parameters=self.parameter_sets[value["parameterSet"]],
        )

    def read_order(self, order_file: str, begin: int, end: int) -> list[int]:
        """Rows at places [begin, end) of an order file, whose path is relative to the run directory."""
        rows = _map_words(self.folder.parent / order_file)
        if not 0 <= begin <= end <= len(rows):
            raise RequestFilesError(f"{order_file} holds {len(rows)} places, asked for [{begin}, {end})")
        return [int(row) for row in rows[begin:end]]


def _map_index(path: Path) -> tuple[int, npt.NDArray[np.uint64], dict[str, npt.NDArray[np.uint32]]]:
    data = np.memmap(path, dtype=np.uint8, mode="r")
    header = bytes(data[:HEADER_BYTES])
    if header[:8] != INDEX_MAGIC:
        raise RequestFilesError(f"{path} is not a request index")
    version, count = (int(word) for word in np.frombuffer(header[8:], dtype="<u4"))
    if version != INDEX_VERSION:
        raise RequestFilesError(f"{path} has schema version {version}, this build reads {INDEX_VERSION}")
    expected = HEADER_BYTES + count * (8 + 4 * len(INDEX_COLUMNS))
    if len(data) != expected:
        raise RequestFilesError(f"{path} has {len(data)} bytes where {expected} belong")
    offsets = data[HEADER_BYTES : HEADER_BYTES + 8 * count].view("<u8")
    table = data[HEADER_BYTES + 8 * count :].view("<u4").reshape(len(INDEX_COLUMNS), count)
    return count, offsets, dict(zip(INDEX_COLUMNS, table, strict=True))


def _map_words(path: Path) -> npt.NDArray[np.uint32]:
    if path.stat().st_size == 0:
        return np.empty(0, dtype="<u4")
    return np.memmap(path, dtype="<u4", mode="r")
