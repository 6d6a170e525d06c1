"""The seed of one sampled request, so that repeats differ and a rerun, a resume, a subset or another order gives the same texts."""

import hashlib
import struct


def derive_request_seed(run_seed: int, tokens: list[int], repeat: int) -> int:
    """63 bits of sha256 over the run's seed, the repeat and the prompt; no place among other requests, so that none of them matters."""
    key = f"{run_seed}:{repeat}:".encode() + struct.pack(f"<{len(tokens)}I", *tokens)
    return int.from_bytes(hashlib.sha256(key).digest()[:8], "big") >> 1


def draws_randomly(parameters: dict[str, object]) -> bool:
    """vLLM's default temperature is 1, so a set that does not name it samples."""
    temperature = parameters.get("temperature", 1.0)
    return isinstance(temperature, (int, float)) and temperature > 0
