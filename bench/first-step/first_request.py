"""lm_eval's own command, ended when it hands its first request to vLLM; writes that moment to stdout, in Unix seconds.

Usage: python bench/first-step/first_request.py run --model vllm …        everything after the file's name is lm_eval's
The patched method is the only difference; the engine runs in a process of its own, as it does for lm_eval's users.
"""

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NoReturn

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "1")
sys.path.append(str(Path(__file__).parents[1] / "parity"))

from peer import provide_vllm_version


def tell_time(*_: Any, **__: Any) -> NoReturn:
    print(f"first_request_at={time.time()}", flush=True)
    raise SystemExit(0)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        provide_vllm_version(Path(folder))
        from lm_eval.__main__ import cli_evaluate
        from vllm.v1.engine.llm_engine import LLMEngine

        LLMEngine.add_request = tell_time
        cli_evaluate()


# vLLM's engine process imports this file again.
if __name__ == "__main__":
    main()
