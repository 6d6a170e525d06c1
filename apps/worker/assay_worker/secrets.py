"""What must never be written down, by the rules of packages/domain/src/secrets.ts; both sides replay protocol/fixtures/secrets.ndjson.

The harness writes lm_eval's files itself, so what a user typed passes here first. Workers still get the real values.
"""

import re
from typing import Any

REDACTED = "[redacted]"

_SECRET_WORDS = {
    "password", "passwd", "passphrase", "pwd", "secret", "secrets", "apikey", "credential", "credentials", "authorization", "bearer", "cookie",
}  # fmt: skip
_BEFORE_KEY = {"api", "access", "private", "secret", "encryption", "signing", "auth", "account"}
_BEFORE_TEXT_TOKEN = {
    "bos", "eos", "pad", "unk", "sep", "cls", "mask", "prefix", "suffix", "stop", "start", "end", "eot", "eod", "think", "image", "audio",
    "special", "first", "last", "next", "added", "per",
}  # fmt: skip
# Forms of well-known secrets, and what stays of each.
_SECRET_TEXTS = [
    (re.compile(r"\bhf_[A-Za-z0-9]{16,}\b", re.ASCII), REDACTED),
    (re.compile(r"\bsk-[A-Za-z0-9_-]{16,}", re.ASCII), REDACTED),
    (re.compile(r"\bgh[opsur]_[A-Za-z0-9]{20,}\b", re.ASCII), REDACTED),
    (re.compile(r"\bgithub_pat_[A-Za-z0-9_]{20,}\b", re.ASCII), REDACTED),
    (re.compile(r"\bAKIA[0-9A-Z]{16}\b", re.ASCII), REDACTED),
    (re.compile(r"(\bBearer\s+)[A-Za-z0-9._~+/=-]{8,}", re.ASCII | re.IGNORECASE), rf"\1{REDACTED}"),
    (re.compile(r"([a-z][a-z0-9+.-]*://)[^\s/@]+@", re.ASCII | re.IGNORECASE), rf"\1{REDACTED}@"),
]
# Not after a slash before ": ", as in "/etc/passwd: no such file".
_KEY_AND_VALUE = re.compile(
    r"""(?<!/(?=[\w.-]+:\s))(["']?)([A-Za-z][\w.-]*)\1(\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;&"'}\]]+)""", re.ASCII
)
_NO_SECRET = re.compile(r"(true|false|null|none|\d+(\.\d+)?|\[redacted.*)", re.ASCII | re.IGNORECASE)


def is_secret_key(key: str) -> bool:
    """True for hf_token, OPENAI_API_KEY, redisPassword; false for eos_token, max_tokens, tokenizer."""
    words = [word for word in re.split(r"[^a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key).lower()) if word]
    if not words or _SECRET_WORDS.intersection(words):
        return bool(words)
    last, before = words[-1], words[-2] if len(words) > 1 else None
    if last == "key":
        return before in _BEFORE_KEY
    return last == "token" and before not in _BEFORE_TEXT_TOKEN


def redact_text(text: str) -> str:
    """Replaces known forms, credentials of URLs, and `key=value` where the key names a secret."""
    for form, kept in _SECRET_TEXTS:
        text = form.sub(kept, text)
    return _redact_pairs(text)


def redact_secrets(value: Any) -> Any:
    """A copy of any JSON-like value without its secrets. Flags and numbers stay: `token: true` says nothing."""
    if isinstance(value, str):
        return redact_text(value)
    if isinstance(value, (list, tuple)):
        return [redact_secrets(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: _redact_named(entry) if is_secret_key(str(key)) else redact_secrets(entry) for key, entry in value.items()}


def _redact_named(value: Any) -> Any:
    return value if value is None or value == "" or isinstance(value, (bool, int, float)) else REDACTED


def _redact_pairs(text: str) -> str:
    """The value of a harmless key may be a pair itself: "refused: token=…"."""
    return _KEY_AND_VALUE.sub(_redact_pair, text)


def _redact_pair(found: re.Match[str]) -> str:
    quote, key, equals, value = found.groups()
    kept = REDACTED if is_secret_key(key) and not _NO_SECRET.fullmatch(value) else _redact_pairs(value)
    return f"{quote}{key}{quote}{equals}{kept}"
