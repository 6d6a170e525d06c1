"""Generation parameters as lm_eval's vLLM backend passes them, each distinct set stored once."""

import ast
import importlib.util
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lm_eval.models.utils import handle_stop_sequences, normalize_gen_kwargs

from assay_worker.harnesses.refusals import refuse_task

DEFAULT_MAX_GEN_TOKS = 256


@dataclass
class ParameterSets:
    """Set 0 belongs to log-likelihoods. `stops`: what cuts the text afterwards, by set; more than the engine's own stops
    where the model thinks first."""

    sets: list[dict[str, Any]] = field(default_factory=lambda: [{}])
    stops: list[list[str]] = field(default_factory=lambda: [[]])
    _numbers: dict[str, int] = field(default_factory=dict)

    def add(self, parameters: dict[str, Any], stops: list[str]) -> int:
        key = json.dumps([parameters, stops], sort_keys=True, default=str)
        if key not in self._numbers:
            self._numbers[key] = len(self.sets)
            self.sets.append(parameters)
            self.stops.append(stops)
        return self._numbers[key]

    def dump(self) -> bytes:
        return json.dumps({"sets": self.sets}, indent=1).encode("ascii") + b"\n"


def build_parameters(task: str, gen_kwargs: Any, eos: str, model_args: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """(sampling parameters, stop strings) of one request."""
    if not isinstance(gen_kwargs, dict):
        raise refuse_task(task, f"generation_kwargs is {gen_kwargs!r}, not a mapping")
    default = int(model_args.get("max_gen_toks", DEFAULT_MAX_GEN_TOKS))
    try:
        options: dict[str, Any] = dict(normalize_gen_kwargs(gen_kwargs, default_max_gen_toks=default))
        stops = handle_stop_sequences(options.pop("until", None), eos=eos)
    except (TypeError, ValueError) as error:
        raise refuse_task(task, f"generation_kwargs: {error}") from error
    budget = int(options.pop("max_gen_toks", default))
    options.pop("do_sample", None)
    _check(task, options, stops, budget)
    # Without a thinking model the engine stops at every string; with one, those inside its thoughts must not end it.
    engine_stops = [stop for stop in stops if stop == eos] if model_args.get("think_end_token") else stops
    fixed = {"skip_special_tokens": False, "spaces_between_special_tokens": False}
    return {"max_tokens": budget, "stop": engine_stops, **fixed, **options}, stops


def _check(task: str, options: dict[str, Any], stops: list[str], budget: int) -> None:
    if budget < 1:
        raise refuse_task(task, f"generation_kwargs: max_gen_toks is {budget}")
    if not all(isinstance(stop, str) and stop for stop in stops):
        raise refuse_task(task, f"generation_kwargs: until holds something that is not a text: {stops!r}")
    known = _list_sampling_parameters()
    for name in options if known else ():
        if name not in known:
            raise refuse_task(task, f'generation_kwargs: the engine has no parameter "{name}"')


def _list_sampling_parameters() -> frozenset[str]:
    """Field names of vLLM's SamplingParams, read from its source: importing vLLM would cost this process seconds."""
    if not _SAMPLING_PARAMETERS:
        _SAMPLING_PARAMETERS.append(_read_sampling_parameters())
    return _SAMPLING_PARAMETERS[0]


_SAMPLING_PARAMETERS: list[frozenset[str]] = []


def _read_sampling_parameters() -> frozenset[str]:
    package = importlib.util.find_spec("vllm")
    file = Path(package.origin).with_name("sampling_params.py") if package and package.origin else None
    if file is None or not file.is_file():
        return frozenset()
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == "SamplingParams":
            fields = [item.target.id for item in node.body if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)]
            return frozenset(name for name in fields if not name.startswith("_"))
    return frozenset()
