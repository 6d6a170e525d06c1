"""The requests of a run as columns, and their token ids in a file: a million rows must not become a million objects.

The layout of the files is stated in packages/protocol/src/request-index.ts.
"""

import hashlib
from array import array
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from assay_worker.protocol import REQUEST_KINDS
from assay_worker.requests import INDEX_COLUMNS, INDEX_MAGIC, INDEX_VERSION

KIND_NUMBERS: dict[str, int] = {kind: number for number, kind in enumerate(REQUEST_KINDS)}


@dataclass(frozen=True)
class Prompt:
    """One request as the engine will see it. `cut`: tokens of the context that were left out to fit the window."""

    kind: str
    context: list[int]
    continuation: list[int]
    new_tokens: int
    parameter_set: int = 0
    cut: int = 0


class RequestTable:
    """Grows row by row, in the order of its keys. Columns that need all rows (prefixGroup, head) are set at the end."""

    def __init__(self, tokens_path: Path) -> None:
        self.columns: dict[str, array[int]] = {name: array("I") for name in INDEX_COLUMNS}
        self.offsets: array[int] = array("Q")
        self.tokens = 0
        self.tokens_path = tokens_path
        self._file: IO[bytes] = tokens_path.open("wb")
        self._prompt_digest = hashlib.sha256()

    def __len__(self) -> int:
        return len(self.offsets)

    def add(self, task: int, ordinal: int, window: int, prompt: Prompt, repeats: int) -> None:
        """Repeats are rows of their own that share the ids on disk."""
        ids = array("I", prompt.context + prompt.continuation)
        lengths = (len(prompt.context), len(prompt.continuation))
        self._prompt_digest.update(array("I", [*lengths, prompt.new_tokens, prompt.parameter_set]).tobytes() + ids.tobytes())
        self._file.write(ids.tobytes())
        for repeat in range(repeats):
            values = {
                "task": task, "ordinal": ordinal, "repeat": repeat, "window": window, "kind": KIND_NUMBERS[prompt.kind],
                "contextTokens": lengths[0], "continuationTokens": lengths[1], "newTokenBudget": prompt.new_tokens,
                "prefixGroup": 0, "head": 0, "headTokens": 0, "parameterSet": prompt.parameter_set, "truncatedTokens": prompt.cut,
            }  # fmt: skip
            for name, column in self.columns.items():
                column.append(values[name])
            self.offsets.append(self.tokens)
        self.tokens += len(ids)

    def take_prompts_digest(self) -> str:
        """Of the rows added since it was last taken."""
        digest, self._prompt_digest = self._prompt_digest.hexdigest(), hashlib.sha256()
        return digest

    def map_tokens(self) -> npt.NDArray[np.uint32]:
        self._file.flush()
        # A plain view: slicing a memmap object costs several times as much.
        return np.memmap(self.tokens_path, dtype="<u4", mode="r").view(np.ndarray) if self.tokens else np.empty(0, dtype="<u4")

    def read_column(self, name: str, begin: int = 0, end: int | None = None) -> npt.NDArray[np.uint32]:
        return np.frombuffer(self.columns[name], dtype=np.uint32)[begin:end].copy()

    def read_offsets(self, begin: int, end: int) -> npt.NDArray[np.uint64]:
        return np.frombuffer(self.offsets, dtype=np.uint64)[begin:end].copy()

    def set_column(self, name: str, values: npt.NDArray[Any]) -> None:
        self.columns[name] = array("I", values.astype(np.uint32).tobytes())

    def flush_tokens(self) -> IO[bytes]:
        self._file.flush()
        return self._file

    def dump_index(self) -> bytes:
        header = INDEX_MAGIC + np.array([INDEX_VERSION, len(self)], dtype="<u4").tobytes()
        body = np.frombuffer(self.offsets, dtype=np.uint64).astype("<u8").tobytes() if len(self) else b""
        columns = [np.frombuffer(column, dtype=np.uint32).astype("<u4").tobytes() for column in self.columns.values() if len(self)]
        return b"".join([header, body, *columns])
