"""Loads, answers every row of a shard, and ends when asked."""

from speak import beat, commands, hello, loaded, results, shard_done

hello()
for number, command in enumerate(commands()):
    beat(number)
    if command["type"] == "load":
        loaded(command)
    elif command["type"] == "shard":
        results(command, range(command["begin"], command["end"]))
        shard_done(command)
