"""What is corrected in vLLM at run time, on CPU alone and for the pinned version: each correction is named in `effective`."""

from typing import Any

import torch
from vllm.v1.sample import sampler

# Rows whose comparison over the whole vocabulary is held at one moment: some 30 MB with 50,000 words.
RANKED_ROWS = 64


def correct_cpu_rank(runner: Any) -> list[str]:
    """Returns the names of what was corrected. A runner of another kind may lack what one of them is about."""
    corrected = []
    if hasattr(runner, "_bookkeeping_sync"):
        keep_discarded_rows_unseeded(runner)
        corrected.append("cpu_seeded_chunked_prefill")
    if hasattr(sampler, "batched_count_greater_than"):
        sampler.batched_count_greater_than = count_not_below
        corrected.append("cpu_token_ranks")
    return corrected


def keep_discarded_rows_unseeded(runner: Any) -> None:
    """A row whose prompt is not complete yet is sampled all the same and the draw is taken back with Generator.set_offset,
    which CPU generators refuse: one seeded request with a chunked prompt ends the engine. Here such rows draw without their
    generator, so there is nothing to take back and the texts do not depend on how prompts were cut into chunks."""
    sample, bookkeep = runner._sample, runner._bookkeeping_sync
    held: dict[int, Any] = {}

    def sample_without_held(*arguments: Any, **keywords: Any) -> Any:
        batch = runner.input_batch
        for row in runner.discard_request_mask.np[: batch.num_reqs].nonzero()[0].tolist():
            if row in batch.generators:
                held[row] = batch.generators.pop(row)
        return sample(*arguments, **keywords)

    def bookkeep_then_return(*arguments: Any, **keywords: Any) -> Any:
        try:
            return bookkeep(*arguments, **keywords)
        finally:
            runner.input_batch.generators.update(held)
            held.clear()

    runner._sample, runner._bookkeeping_sync = sample_without_held, bookkeep_then_return


def count_not_below(scores: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """How many of each row are at least that row's value; (rows, words) and (rows, 1) to (rows,).

    vLLM compiles this one function so that no copy of the scores is made: ten seconds at the first scored request, and a C++
    compiler. In pieces it needs neither, and the counts are the same."""
    pieces = zip(scores.split(RANKED_ROWS), values.split(RANKED_ROWS), strict=True)
    return torch.cat([(piece >= value).sum(-1) for piece, value in pieces])
