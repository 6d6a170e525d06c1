"""Digests of what the engine loads: weights, configuration, tokenizer. Weights are hashed once per (path, size, mtime, inode)."""

import contextlib
import hashlib
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

CACHE_NAME = "weight-digests.json"
WEIGHT_SUFFIXES = (".safetensors", ".bin", ".pt", ".gguf")
TOKENIZER_FILES = (
    "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "tokenizer.model",
    "vocab.json", "merges.txt", "chat_template.jinja",
)  # fmt: skip


class WeightDigests:
    """Runs beside the load; `wait` gives what it found."""

    def __init__(self, model: str, tokenizer: str | None) -> None:
        self._result: dict[str, Any] = {}
        self._thread = threading.Thread(target=self._collect, args=(model, tokenizer), name="digests", daemon=True)

    @classmethod
    def start(cls, model: str, tokenizer: str | None) -> "WeightDigests":
        digests = cls(model, tokenizer)
        digests._thread.start()
        return digests

    def wait(self) -> dict[str, Any]:
        self._thread.join()
        return self._result

    def _collect(self, model: str, tokenizer: str | None) -> None:
        folder = find_model_folder(model)
        if folder is None:
            self._result = {"modelPath": model, "problem": "no local folder, so no digests"}
            return
        tokenizer_folder = find_model_folder(tokenizer) if tokenizer else folder
        self._result = {
            "modelPath": str(folder),
            "revision": read_revision(folder),
            "weights": digest_weights(folder),
            "configDigest": digest_file(folder / "config.json"),
            "generationConfigDigest": digest_file(folder / "generation_config.json"),
            "tokenizerFiles": digest_files(tokenizer_folder or folder, TOKENIZER_FILES),
        }


def find_model_folder(model: str) -> Path | None:
    """A local folder, or the snapshot of a hub model in the local cache; nothing is fetched."""
    if Path(model).is_dir():
        return Path(model)
    with contextlib.suppress(Exception):
        from huggingface_hub import snapshot_download

        return Path(snapshot_download(model, local_files_only=True))
    return None


def read_revision(folder: Path) -> str | None:
    """The commit of a hub snapshot, whose folder is named after it."""
    return folder.name if folder.parent.name == "snapshots" else None


def digest_weights(folder: Path) -> dict[str, str]:
    """sha256 per weight file. Only safetensors where there are any, as the engine does."""
    files = sorted(path for path in folder.iterdir() if path.suffix in WEIGHT_SUFFIXES)
    safetensors = [path for path in files if path.suffix == ".safetensors"]
    cache_path = Path(os.environ["ASSAY_HOME"], CACHE_NAME) if os.environ.get("ASSAY_HOME") else None
    cache = _read_cache(cache_path)
    with ThreadPoolExecutor(max_workers=2) as pool:
        digests = dict(zip(safetensors or files, pool.map(lambda path: _digest_cached(path, cache), safetensors or files), strict=True))
    _write_cache(cache_path, cache)
    return {path.name: digest for path, digest in digests.items()}


def digest_files(folder: Path, names: tuple[str, ...]) -> dict[str, str]:
    found = {name: digest_file(folder / name) for name in names}
    return {name: digest for name, digest in found.items() if digest}


def digest_file(path: Path) -> str | None:
    """sha256 in hex; None where there is no such file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        return None


def _digest_cached(path: Path, cache: dict[str, str]) -> str:
    state = path.stat()
    key = f"{path.resolve()}:{state.st_size}:{state.st_mtime_ns}:{state.st_ino}"
    if key not in cache:
        cache[key] = str(digest_file(path))
    return cache[key]


def _read_cache(path: Path | None) -> dict[str, str]:
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if path is not None:
            return dict(json.loads(path.read_text("utf-8")))
    return {}


def _write_cache(path: Path | None, cache: dict[str, str]) -> None:
    """Whole or not at all: several workers write it, and the last one wins."""
    if path is None or _read_cache(path) == cache:
        return
    with contextlib.suppress(OSError):
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_text(json.dumps(cache), "utf-8")
        temporary.replace(path)
