"""What is decided about the model's prompts and shown before anything runs: BOS, chat template, and doubts about either."""

from typing import Any

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
    source = "the tokenizer's setting" if asked is None else f"model_args add_bos_token={asked}"
    return f"{'added' if added else 'not added'} ({source}); {tokenizer.bos_token!r} is id {tokenizer.bos_token_id}, never twice"


def list_model_warnings(command: Render, model: RenderModel, template: str | None) -> list[str]:
    tokenizer: Any = model.tokenizer
    name = command.model_args.get("pretrained")
    warnings = []
    if template is None and getattr(tokenizer, "chat_template", None):
        warnings.append(f"the tokenizer of {name} has a chat template and it is not applied; --apply_chat_template applies it")
    if template is not None and isinstance(command.apply_chat_template, str) and isinstance(tokenizer.chat_template, str):
        warnings.append(f'the tokenizer of {name} has one chat template without a name; it is applied for "{command.apply_chat_template}"')
    wants_bos = getattr(tokenizer, "init_kwargs", {}).get("add_bos_token")
    bos = tokenizer.bos_token_id
    if wants_bos and bos is not None and model.tok_encode(_SAMPLE)[:1] != [bos] and command.model_args.get("add_bos_token") is None:
        warnings.append(f"the tokenizer of {name} is configured with add_bos_token but adds none; model_args add_bos_token=true forces it")
    return warnings


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
