"""`python -m assay_worker engine|harness`: one worker process, started by Assay and ended with it.

Order matters: the channel takes over the descriptors, and the process is tied to its parent, before any heavy import.
"""

import importlib
import os
import sys
import traceback

# `-m` puts the working directory first, where a file of the user's may be called like a library. Descendants leave it out too.
if sys.path[0] == os.getcwd():
    del sys.path[0]
os.environ["PYTHONSAFEPATH"] = "1"

from assay_worker.caches import keep_caches_at_home
from assay_worker.lifetime import tie_to_parent
from assay_worker.transport import open_channel

# Each role's module has `run(channel) -> int`. It imports what it needs, says hello, and serves commands until `exit`.
ROLES = {"engine": "assay_worker.roles.engine", "harness": "assay_worker.roles.harness"}


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0] not in ROLES:
        print(f"usage: python -m assay_worker {'|'.join(ROLES)}  (started by `assay run`)", file=sys.stderr)
        return 2
    channel = open_channel()
    keep_caches_at_home()
    tie_to_parent()
    channel.start_reading()
    role = importlib.import_module(ROLES[arguments[0]])
    exit_code: int = role.run(channel)
    return exit_code


def run_process() -> None:
    """Ends at once: finalisers of engines take seconds, and what they would end or remove is the guardian's business anyway."""
    try:
        exit_code = main(sys.argv[1:])
    except Exception:
        traceback.print_exc()
        exit_code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(exit_code)


if __name__ == "__main__":
    run_process()
