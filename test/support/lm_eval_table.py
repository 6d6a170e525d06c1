"""Reads a results file with lm_eval's own table maker and checks a manifest against its published schema.

    python lm_eval_table.py RESULTS.json MANIFEST.json SCHEMA.json      prints the table; exit 1 where the schema is broken
"""

import json
import sys
from pathlib import Path
from typing import Any

import jsonschema
from lm_eval.utils import make_table


def read_strictly(path: str) -> Any:
    return json.loads(Path(path).read_text("utf-8"), parse_constant=refuse)


def refuse(token: str) -> None:
    raise ValueError(f"{token} is not JSON")


def main() -> int:
    results, manifest, schema = map(read_strictly, sys.argv[1:])
    print(make_table(results))
    if "groups" in results:
        print(make_table(results, "groups"))
    problems = list(jsonschema.Draft202012Validator(schema).iter_errors(manifest))
    for problem in problems:
        print(f"{problem.json_path}: {problem.message}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
