"""Writes requests/: each file through a temporary one, fsynced and renamed, index.bin last, so that its presence means all.

Where index.bin is there already nothing is changed; the digest tells whether the requests are still the same.
"""

import contextlib
import hashlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from lm_eval.utils import handle_non_serializable

from assay_worker.harnesses.generation import ParameterSets
from assay_worker.harnesses.request_table import RequestTable

_TEMPORARY = ".rendering"
_BLOCK_BYTES = 1 << 20


class RequestWriter:
    """Use within `with`: whatever happens, no temporary file stays."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_first = not (folder / "index.bin").exists()
        self._docs: IO[str] | None = None

    def __enter__(self) -> "RequestWriter":
        self.folder.mkdir(parents=True, exist_ok=True)
        self._remove_temporary()
        self.table = RequestTable(self._temporary("tokens.bin"))
        if self.is_first:
            self._docs = self._temporary("docs.ndjson").open("w", encoding="ascii", newline="\n")
        return self

    def __exit__(self, *_: object) -> None:
        self.table.flush_tokens().close()
        if self._docs is not None:
            self._docs.close()
        self._remove_temporary()

    def add_document_line(self, line: dict[str, Any]) -> None:
        """ASCII only: a lone surrogate stays as it is, and no character ends a line early."""
        if self._docs is not None:
            self._docs.write(json.dumps(line, default=handle_non_serializable) + "\n")

    def finish(self, parameters: ParameterSets) -> str:
        """Puts the files in place and returns their digest (sha256 over index.bin, tokens.bin and params.json)."""
        index, params = self.table.dump_index(), parameters.dump()
        tokens = self.table.flush_tokens()
        digest = hashlib.sha256(index)
        for block in _read_blocks(self.table.tokens_path):
            digest.update(block)
        digest.update(params)
        if self.is_first and self._docs is not None:
            self._place(tokens, "tokens.bin")
            self._place(self._docs, "docs.ndjson")
            for name, content in (("params.json", params), ("index.bin", index)):
                with self._temporary(name).open("wb") as file:
                    file.write(content)
                    self._place(file, name)
        return digest.hexdigest()

    def _place(self, file: IO[Any], name: str) -> None:
        file.flush()
        os.fsync(file.fileno())
        os.replace(self._temporary(name), self.folder / name)
        self._sync_folder()

    def _sync_folder(self) -> None:
        folder = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _temporary(self, name: str) -> Path:
        return self.folder / f"{name}{_TEMPORARY}"

    def _remove_temporary(self) -> None:
        for path in self.folder.glob(f"*{_TEMPORARY}"):
            with contextlib.suppress(OSError):
                path.unlink()


def _read_blocks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            yield block
