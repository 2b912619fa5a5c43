"""Writes the record of a run, the first file, as version 1 of the format has it: to the second."""

import json
import sys

record = json.load(open(sys.argv[1]))
record["format"] = 1
del record["files"]
for start in record["starts"]:
    del start["cpu"], start["libraries"]
with open(sys.argv[2], "w") as file:
    json.dump(record, file)
