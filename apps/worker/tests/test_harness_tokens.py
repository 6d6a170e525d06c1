"""Our prompts against those of lm_eval's real vLLM backend: the class runs its own code, only the engine is left out."""

import hashlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from assay_worker.harnesses.render import render
from assay_worker.requests import Request, RequestFiles
from harness_kit import SHARED_TASKS, build_render

PLAIN = {"max_model_len": 1024}
CASES: dict[str, dict[str, Any]] = {
    "all kinds of requests": {"tasks": ["fx_tag", "fx_last_word", "fx_rolling", "fx_generate", "fx_repeats", "fx_class"]},
    "chat template, few-shot as turns": {"tasks": ["fx_choice", "fx_generate"], "apply_chat_template": True},
    "chat template, one turn, system": {
        "tasks": ["fx_choice", "fx_generate"], "apply_chat_template": True, "fewshot_as_multiturn": False, "system_instruction": "Be brief.",
    },
    "BOS forced on": {"tasks": ["fx_choice", "fx_mutual", "fx_rolling", "fx_generate"], "model_args": PLAIN | {"add_bos_token": True}},
    "a window that cuts everything": {"tasks": ["fx_choice", "fx_rolling", "fx_generate"], "model_args": {"max_model_len": 40}},
    "cut on the right": {"tasks": ["fx_generate"], "model_args": {"max_length": 40, "truncation_side": "right"}},
    "a prefix token of one's own": {"tasks": ["fx_mutual", "fx_rolling"], "model_args": PLAIN | {"prefix_token_id": 17}},
    "a model that thinks": {"tasks": ["fx_generate"], "model_args": PLAIN | {"think_end_token": "</think>"}},
    "gen_kwargs": {"tasks": ["fx_generate"], "gen_kwargs": {"temperature": 0.5, "do_sample": True, "top_p": 0.9, "max_tokens": 7}},
    "shared data": {"tasks": ["m_anatomy", "c_anatomy", "g_gsm8k"], "limit": 10.0, "include_path": [str(SHARED_TASKS)]},
}  # fmt: skip


@pytest.fixture(scope="module")
def backend_class(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """lm_eval asks for the version of a package called vllm, which the CPU build does not answer to."""
    vllm = pytest.importorskip("vllm")
    shim = tmp_path_factory.mktemp("shim")
    version = vllm.__version__.partition("+")[0] + "+cpu"
    info = shim / f"vllm-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(shim))
        from lm_eval.models.vllm_causallms import VLLM

        yield VLLM


@pytest.mark.parametrize("name", CASES)
def test_prompts_are_those_of_the_real_backend(name: str, tmp_path: Path, demo_model: str, backend_class: Any) -> None:
    case = CASES[name]
    if name == "shared data" and not SHARED_TASKS.is_dir():
        pytest.skip("../shared/data is not here")
    model_args = {"pretrained": demo_model, **case.get("model_args", PLAIN)}
    session, rendered = render(build_render(tmp_path, demo_model, **case | {"model_args": model_args}), lambda: None)
    files = RequestFiles(tmp_path)
    backend = build_backend(backend_class, model_args)
    for part in session.parts:
        rows = iter(range(*part.rows))
        for ordinal, instance in enumerate(part.instances):
            repeats = instance.repeats or 1
            ours = [files.read(next(rows)) for _ in range(part.counts[ordinal] * repeats)]
            assert all((one.task, one.ordinal) == (part.number, ordinal) for one in ours)
            assert answer_ours(ours[::repeats]) == getattr(backend, instance.request_type)([instance], disable_tqdm=True)[0]
    assert rendered.requests == files.count


def build_backend(backend_class: Any, model_args: dict[str, Any]) -> Any:
    """The backend as its constructor would leave it, without an engine."""
    from transformers import AutoConfig
    from vllm.tokenizers import get_tokenizer

    lm = object.__new__(backend_class)
    super(backend_class, lm).__init__()
    bos = model_args.get("add_bos_token")
    lm.tokenizer = get_tokenizer(model_args["pretrained"], **({} if bos is None else {"add_bos_token": bos}))
    lm._config = AutoConfig.from_pretrained(model_args["pretrained"])
    lm._max_length = model_args.get("max_model_len") or model_args.get("max_length")
    lm.add_bos_token = bos
    lm.custom_prefix_token_id = model_args.get("prefix_token_id")
    lm.think_end_token = model_args.get("think_end_token")
    lm.truncation_side = model_args.get("truncation_side", "left")
    lm.enable_thinking = lm.lora_request = None
    lm.chat_template_args, lm.hf_chat_template = {}, lm.tokenizer.get_chat_template()
    lm._max_gen_toks, lm.batch_size, lm.data_parallel_size = 256, "auto", 1
    lm._model_generate = answer_theirs
    return lm


def answer_theirs(requests: list[list[int]], generate: bool = False, sampling_params: Any = None) -> list[Any]:
    """Answers that give away the prompt, its split and the parameters."""
    if generate:
        keys = [json.dumps([tokens, describe(one)]) for tokens, one in zip(requests, sampling_params, strict=True)]
        return [SimpleNamespace(outputs=[SimpleNamespace(text=digest(key))]) for key in keys]
    rows = [[None, *({token: weigh(tokens, at)} for at, token in enumerate(tokens) if at)] for tokens in requests]
    return [SimpleNamespace(prompt_logprobs=row) for row in rows]


def answer_ours(rows: list[Request]) -> Any:
    kind = rows[0].kind if rows else "loglikelihood_rolling"
    if kind == "generate_until":
        return digest(json.dumps([rows[0].tokens, {name: rows[0].parameters.get(name) for name in PARAMETERS}]))
    sums = [sum(weigh(row.tokens, at) for at in range(row.context_tokens, len(row.tokens))) for row in rows]
    return sum(sums) if kind == "loglikelihood_rolling" else (sums[0], True)


PARAMETERS = ("max_tokens", "stop", "temperature", "top_p", "skip_special_tokens", "spaces_between_special_tokens")
DEFAULTS = {"temperature": 1.0, "top_p": 1.0}


def describe(parameters: Any) -> dict[str, Any]:
    found = {name: getattr(parameters, name) for name in PARAMETERS}
    return {name: None if value == DEFAULTS.get(name) else value for name, value in found.items()}


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def weigh(tokens: list[int], at: int) -> int:
    """Depends on the whole prompt and the place; whole numbers, so that sums are exact."""
    return int(hashlib.sha256(json.dumps(list(tokens)).encode()).hexdigest()[:8], 16) % 100_003 * (at + 1)
