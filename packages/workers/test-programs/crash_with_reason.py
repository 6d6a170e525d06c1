"""Answers half a shard, says why it cannot go on, and exits 1. A later error follows from the first."""

import sys

from speak import commands, hello, loaded, results

print("ImportError: an old error that explains nothing", file=sys.stderr)
hello()
for command in commands():
    if command["type"] == "load":
        print("RuntimeError: also before it did well", file=sys.stderr)
        loaded(command)
        continue
    results(command, range(command["begin"], command["begin"] + 1))
    print("(EngineCore_0 pid=7) ERROR 01-01 12:00:00 [core.py:7] RuntimeError: the device fell off the bus", file=sys.stderr)
    for number in range(150):
        print(f"  frame {number}", file=sys.stderr)
    print("EngineDeadError: the engine is dead", file=sys.stderr)
    sys.exit(1)
