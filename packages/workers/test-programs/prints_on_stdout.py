"""A library prints on stdout, and something that is no event lands on fd 3."""

import os

from speak import commands, hello, loaded

print("a banner on stdout")
os.write(3, b"not an event\n")
os.write(3, b'{"type":"unheard_of"}\n')
hello()
for command in commands():
    print(f"progress: 10%\rprogress: 100% of {command['type']}")
    loaded(command)
os.write(3, b'{"type":"torn')
