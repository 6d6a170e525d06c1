"""Prints what lm_eval makes of each text of a JSON list: as a flag's value, and as a value inside a text of key=value pairs."""

import json
import sys

from lm_eval._cli.utils import handle_cli_value_string
from lm_eval.utils import handle_arg_string

texts = json.loads(sys.argv[1])
print(json.dumps({"flag": [handle_cli_value_string(text) for text in texts], "text": [handle_arg_string(text) for text in texts]}))
