"""The seed of one sampled request, so that repeats differ and a rerun, a resume or another order gives the same texts."""

import hashlib


def derive_request_seed(run_seed: int, task: int, ordinal: int, repeat: int) -> int:
    """63 bits of sha256 over the run's seed and the request's key."""
    key = f"{run_seed}:{task}:{ordinal}:{repeat}".encode()
    return int.from_bytes(hashlib.sha256(key).digest()[:8], "big") >> 1


def draws_randomly(parameters: dict[str, object]) -> bool:
    """vLLM's default temperature is 1, so a set that does not name it samples."""
    temperature = parameters.get("temperature", 1.0)
    return isinstance(temperature, (int, float)) and temperature > 0
