"""One module per kind of worker; each has `run(channel) -> int`, the process's exit code."""
