"""Digests (sha256 in hex) of what a score depends on: documents, files, tokenizer, code."""

import hashlib
import inspect
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def digest_text(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical_json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), default=_describe_object)


def digest_document(document: Any) -> str:
    return digest_text(canonical_json(document))


def digest_documents(split: str, documents: Iterable[Any]) -> str:
    """Of the documents used, in order, with the name of their split."""
    state = hashlib.sha256(json.dumps({"split": split}).encode() + b"\n")
    for document in documents:
        state.update(canonical_json(document).encode("utf-8", "surrogatepass") + b"\n")
    return state.hexdigest()


def digest_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_code(function: Any) -> str:
    """Of a function's source, so that a changed metric under an old name is seen."""
    try:
        return digest_text(inspect.getsource(function))
    except (OSError, TypeError):
        return digest_text(_describe_object(function))


def digest_tokenizer(tokenizer: Any) -> str:
    """Of what the tokenizer does (vocabulary, merges, special tokens, template), wherever its files lie."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    body = backend.to_str() if backend is not None else canonical_json(tokenizer.get_vocab())
    template = canonical_json(getattr(tokenizer, "chat_template", None))
    return digest_text("\n".join([body, canonical_json(tokenizer.special_tokens_map), template]))


def _describe_object(value: Any) -> Any:
    """Objects without a JSON form; a memory address would make the digest differ from process to process."""
    if isinstance(value, set):
        return sorted(value, key=str)
    item = getattr(value, "item", None)
    if callable(item) and getattr(value, "ndim", None) == 0:
        return item()
    return _ADDRESS.sub("", str(value))
