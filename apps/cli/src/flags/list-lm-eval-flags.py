"""Prints the flags of `lm_eval run` with their short forms, and the names of its models, as JSON.

Its output without the models is kept in lm-eval-flags.fixture.json. Imports the argument parser and reads the model table
as text, since importing the models would load torch.
"""

import argparse
import ast
import importlib.metadata
import importlib.util
import json
import pathlib

from lm_eval._cli.run import Run

parser = argparse.ArgumentParser()
run = Run.create(parser.add_subparsers())
flags = {}
for action in run._parser._actions:
    long = [option[2:] for option in action.option_strings if option.startswith("--")]
    short = [option[1:] for option in action.option_strings if not option.startswith("--")]
    if long and long[0] != "help":
        flags[long[0]] = short[0] if short else None

package = pathlib.Path(importlib.util.find_spec("lm_eval").origin).parent
tree = ast.parse((package / "models" / "__init__.py").read_text())
mapping = next(node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == "MODEL_MAPPING")
models = sorted(ast.literal_eval(mapping))

print(json.dumps({"lm_eval": importlib.metadata.version("lm_eval"), "flags": flags, "models": models}))
