"""Prints the interpreter's version, its parent process and the versions of the distributions named in its arguments, as JSON.

Imports none of them.
"""

import importlib.metadata
import json
import os
import platform
import sys


def find_version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


found = {name: version for name in sys.argv[1:] if (version := find_version(name)) is not None}
print(json.dumps({"python": platform.python_version(), "parent": os.getppid(), "packages": found}))
