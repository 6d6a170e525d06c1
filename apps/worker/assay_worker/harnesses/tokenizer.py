"""The model's tokenizer and window, found as vLLM finds them but without importing it."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from transformers import AutoConfig, AutoTokenizer

from assay_worker.harnesses.hub import explain_model
from assay_worker.harnesses.refusals import Refusal, refuse_model, refuse_value

# vLLM takes the smallest of these that a configuration has; `model_max_length` then counts alone.
_WINDOW_KEYS = (
    "max_position_embeddings", "n_positions", "max_seq_len", "seq_length", "model_max_length", "max_target_positions",
    "max_sequence_length", "max_seq_length", "seq_len",
)  # fmt: skip
# Rotary scalings whose configured length is the final one already.
_SCALED_ALREADY = {"su", "longrope", "llama3", "yarn", "deepseek_yarn", "deepseek_llama_scaling"}
_DEFAULT_WINDOW = 2048
_MODES = ("auto", "hf")


@dataclass(frozen=True)
class ModelText:
    """What rendering needs of a model."""

    name: str
    config: Any
    tokenizer: Any
    max_model_len: int


def is_local_model(model_args: dict[str, Any]) -> bool:
    names = [model_args.get("pretrained"), model_args.get("tokenizer") or model_args.get("pretrained")]
    return all(name is not None and Path(str(name)).expanduser().is_dir() for name in names)


def load_model_text(model_args: dict[str, Any], trust_remote_code: bool) -> ModelText:
    name = model_args.get("pretrained")
    if not name:
        raise refuse_value("model_args", "pretrained", "no model was given")
    _check_place(str(name))
    trust = bool(model_args.get("trust_remote_code", trust_remote_code))
    config = _load_config(str(name), model_args, trust)
    tokenizer = _load_tokenizer(str(model_args.get("tokenizer") or name), config, model_args, trust)
    window = find_window(config, model_args)
    return ModelText(str(name), config, tokenizer, window)


def _check_place(name: str) -> None:
    """A name that can only be a folder must be one; anything else is left to the hub's cache."""
    path = Path(name).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise refuse_model("MODEL_NOT_FOUND", name, "the folder has no config.json")
    elif name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise refuse_model("MODEL_NOT_FOUND", name, f"there is no such folder (in {Path.cwd()})")


def _load_config(name: str, model_args: dict[str, Any], trust: bool) -> Any:
    try:
        return AutoConfig.from_pretrained(name, trust_remote_code=trust, revision=model_args.get("revision"))
    except Exception as error:
        file = Path(name) / "config.json"
        if not file.is_file():
            raise explain_model(error, "the configuration", name) or refuse_model("MODEL_NOT_FOUND", name, _first_line(error)) from error
        return _read_raw_config(name, file)


def _read_raw_config(name: str, file: Path) -> Any:
    """An architecture that transformers does not know may still be one of vLLM's own."""
    try:
        return SimpleNamespace(**json.loads(file.read_text("utf-8")))
    except (ValueError, TypeError) as error:
        raise refuse_model("MODEL_BROKEN", name, f"config.json: {error}") from error


def _load_tokenizer(name: str, config: Any, model_args: dict[str, Any], trust: bool) -> Any:
    mode = model_args.get("tokenizer_mode", "auto")
    if mode not in _MODES:
        raise refuse_value("model_args", "tokenizer_mode", f'"{mode}" is not one of {", ".join(_MODES)}')
    extra = {} if model_args.get("add_bos_token") is None else {"add_bos_token": model_args["add_bos_token"]}
    if hasattr(config, "to_dict"):
        extra["config"] = config
    try:
        return AutoTokenizer.from_pretrained(
            name,
            trust_remote_code=trust,
            revision=model_args.get("tokenizer_revision"),
            truncation_side="left",
            **extra,
        )
    except Exception as error:
        raise _explain_tokenizer(name, error) from error


def _explain_tokenizer(name: str, error: Exception) -> Refusal:
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return explain_model(error, "the tokenizer", name) or refuse_model("MODEL_NOT_FOUND", name, _first_line(error))
    files = [file for file in os.listdir(folder) if "token" in file or file.startswith(("vocab", "merges")) or file.endswith(".model")]
    if not set(files) - {"tokenizer_config.json"}:
        return refuse_model("MODEL_NOT_FOUND", name, "the folder has no tokenizer")
    return refuse_model("MODEL_BROKEN", name, f"its tokenizer cannot be read: {_first_line(error)}")


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]


def find_window(config: Any, model_args: dict[str, Any]) -> int:
    """max_model_len (or lm_eval's max_length) where given, else what vLLM derives from the configuration."""
    derived = derive_window(config)
    key = next((name for name in ("max_model_len", "max_length") if model_args.get(name) is not None), None)
    if key is None:
        return derived
    value = model_args[key]
    try:
        window = int(value)
    except (TypeError, ValueError):
        raise refuse_value("model_args", key, f"{value!r} is not a number of tokens") from None
    limit = max(derived, int(getattr(config, "model_max_length", None) or 0))
    if window < 1 or (window > limit and os.environ.get("VLLM_ALLOW_LONG_MAX_MODEL_LEN") != "1"):
        raise refuse_value("model_args", key, f"{window} is not within the model's window of {limit} tokens")
    return window


def derive_window(config: Any) -> int:
    text = _get_text_config(config)
    lengths = [value for key in _WINDOW_KEYS if isinstance(value := _get(text, key), (int, float))]
    own = _get(text, "model_max_length")
    window = own or min(lengths, default=_DEFAULT_WINDOW)
    rotary = _list_rotary(config)
    kinds = [scaling.get("rope_type", scaling.get("type")) for scaling in rotary]
    if "longrope" in kinds and _get(config, "original_max_position_embeddings"):
        return int(_get(config, "original_max_position_embeddings"))
    if "gemma3" not in str(_get(config, "model_type")):
        factors = [scaling.get("factor") for scaling, kind in zip(rotary, kinds, strict=True) if kind not in _SCALED_ALREADY]
        window *= next((factor for factor in reversed(factors) if factor), 1.0)
    return int(window)


def _get_text_config(config: Any) -> Any:
    if hasattr(config, "get_text_config"):
        return config.get_text_config()
    nested = getattr(config, "text_config", None)
    return config if nested is None else nested


def _list_rotary(config: Any) -> list[dict[str, Any]]:
    """One mapping, or one for each kind of layer."""
    found = _get(config, "rope_parameters") or _get(config, "rope_scaling")
    if not isinstance(found, dict):
        return []
    return [value for value in found.values() if isinstance(value, dict)] or [found]


def _get(config: Any, key: str) -> Any:
    return config.get(key) if isinstance(config, dict) else getattr(config, key, None)
