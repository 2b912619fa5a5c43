"""Makes the length of a program's text vary: `vary.py FILE [PARTS]` changes the metadata of two_ranks.py.
Messages have that many parts, or one."""

import json
import sys

with open(sys.argv[1]) as file:
    metadata = json.load(file)
longest = metadata["lengths"][-1]
for batch in metadata["batches"]:
    batch["length_dim"] = 1
for channel in metadata["programs"][0]["channels"]:
    rows, width = channel["shape"]
    channel["parts"] = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    channel["length_shapes"] = [[rows, width * length // longest] for length in metadata["lengths"]]
    channel["microbatches"] = list(range(channel["messages_per_step"]))
with open(sys.argv[1], "w") as file:
    json.dump(metadata, file)
