"""Speaks a later protocol, whose hello has other fields."""

import time

from speak import say

say(type="hello", protocol=99, kind="engine")
time.sleep(60)
