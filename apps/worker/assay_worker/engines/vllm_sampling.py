"""How a request is put to vLLM and its answer read, such that both equal what lm_eval 0.4.13's own vLLM backend does.

Containers differ (flat lists, final output only), numbers do not.
"""

from typing import Any

from vllm import SamplingParams
from vllm.sampling_params import RequestOutputKind

from assay_worker.engines.base import EngineRequest


def build_sampling_params(request: EngineRequest) -> SamplingParams:
    if request.kind != "generate_until":
        return SamplingParams(
            temperature=0,
            prompt_logprobs=1,
            max_tokens=1,
            detokenize=False,
            flat_logprobs=True,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
    parameters = {**request.parameters, "max_tokens": request.new_token_budget}
    if request.seed is not None:
        parameters["seed"] = request.seed
    return SamplingParams(**parameters, output_kind=RequestOutputKind.FINAL_ONLY)


def score_continuation(prompt_logprobs: Any, tokens: list[int], context_tokens: int) -> tuple[float, bool]:
    """Sum over the continuation, and whether each of its tokens is a most likely one (a tie counts as most likely)."""
    logprobs: list[float] = []
    greedy = True
    for place in range(context_tokens, len(tokens)):
        start, end = prompt_logprobs.start_indices[place], prompt_logprobs.end_indices[place]
        row = dict(zip(prompt_logprobs.token_ids[start:end], prompt_logprobs.logprobs[start:end], strict=True))
        logprob = row[tokens[place]]
        logprobs.append(logprob)
        greedy = greedy and not any(other > logprob for other in row.values())
    return float(sum(logprobs)), greedy


def cut_at_stops(text: str, stops: list[str] | str | None) -> str:
    """vLLM stops at the first stop string it completes; a token can bring several, and then the earliest counts."""
    for stop in [stops] if isinstance(stops, str) else stops or []:
        if stop:
            text = text.split(stop)[0]
    return text
