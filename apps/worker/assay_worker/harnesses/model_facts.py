"""What is decided about the model's prompts and shown before anything runs: BOS, chat template, and doubts about either."""

import json
from pathlib import Path
from typing import Any

from transformers.utils import cached_file

from assay_worker.harnesses.render_model import RenderModel
from assay_worker.protocol import Render

_SAMPLE = "a"


def describe_bos(model: RenderModel) -> str:
    """Follows the tokenizer's own setting unless add_bos_token says otherwise; read off an encoded text, not off a setting."""
    tokenizer: Any = model.tokenizer
    if tokenizer.bos_token_id is None:
        return "the tokenizer has no BOS token"
    added = model.tok_encode(_SAMPLE)[:1] == [tokenizer.bos_token_id]
    asked = model.model_args.get("add_bos_token")
    if asked is not None:
        source = f"model_args add_bos_token={asked}"
    elif not added and wants_bos(model.model_args):
        source = "the tokenizer adds none, although its configuration asks for it"
    else:
        source = "the tokenizer's setting"
    return f"{'added' if added else 'not added'} ({source}); {tokenizer.bos_token!r} is id {tokenizer.bos_token_id}, never twice"


def list_model_warnings(command: Render, model: RenderModel, template: str | None) -> list[str]:
    tokenizer: Any = model.tokenizer
    name = command.model_args.get("pretrained")
    warnings = []
    if template is None and getattr(tokenizer, "chat_template", None):
        warnings.append(f"the tokenizer of {name} has a chat template and it is not applied; --apply_chat_template applies it")
    if template is not None and isinstance(command.apply_chat_template, str) and isinstance(tokenizer.chat_template, str):
        warnings.append(f'the tokenizer of {name} has one chat template without a name; it is applied for "{command.apply_chat_template}"')
    bos, asked = tokenizer.bos_token_id, command.model_args.get("add_bos_token")
    is_in_template = template is not None and ("bos_token" in template or str(tokenizer.bos_token) in template)
    is_bare = bos is not None and asked is None and not is_in_template and model.tok_encode(_SAMPLE)[:1] != [bos]
    if is_bare and wants_bos(command.model_args):
        warnings.append(f"the tokenizer of {name} is configured with add_bos_token but adds none; model_args add_bos_token=true forces it")
    return warnings


def wants_bos(model_args: dict[str, Any]) -> bool:
    """Read from the file: transformers drops the key from a fast tokenizer's settings. By now the file is on this machine."""
    name = str(model_args.get("tokenizer") or model_args.get("pretrained"))
    try:
        path = cached_file(name, "tokenizer_config.json", revision=model_args.get("tokenizer_revision"), local_files_only=True)
        return path is not None and json.loads(Path(path).read_text("utf-8")).get("add_bos_token") is True
    except (OSError, ValueError, AttributeError):
        return False


def decide_multiturn(command: Render) -> bool:
    """lm_eval's command: on with a chat template unless it is said otherwise. Without one the command line refuses it."""
    if command.fewshot_as_multiturn is None:
        return bool(command.apply_chat_template)
    return command.fewshot_as_multiturn


def describe_seeds(command: Render) -> dict[str, Any]:
    places = {
        "python": "random.seed before the tasks are loaded",
        "numpy": "numpy.random.seed before the tasks are loaded",
        "torch": "torch.manual_seed before the tasks are loaded",
        "fewshot": "each task's few-shot sampler",
    }
    values = command.seed.model_dump()
    return {name: {"value": values[name], "appliedTo": [place]} for name, place in places.items()}
