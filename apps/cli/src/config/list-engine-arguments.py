"""Prints the fields of vLLM's EngineArgs, read from its source as text, since importing the engine takes many seconds."""

import ast
import importlib.util
import json
import pathlib

package = pathlib.Path(importlib.util.find_spec("vllm").origin).parent
tree = ast.parse((package / "engine" / "arg_utils.py").read_text())
engine_args = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "EngineArgs")
fields = [node.target.id for node in engine_args.body if isinstance(node, ast.AnnAssign)]
print(json.dumps(sorted(field for field in fields if not field.startswith("_"))))
