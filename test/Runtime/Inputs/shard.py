"""Splits a .safetensors file into several with an index: NAME-1.safetensors, ..., NAME.safetensors.index.json.

usage: shard.py FILE COUNT NAME
"""

import json
import struct
import sys

file, count, name = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(file, "rb") as source:
    content = source.read()
(length,) = struct.unpack("<Q", content[:8])
header = json.loads(content[8 : 8 + length])
header.pop("__metadata__", None)
shards, places = [({}, bytearray()) for _ in range(count)], {}
for i, (tensor, entry) in enumerate(header.items()):
    entries, data = shards[i % count]
    begin, end = entry["data_offsets"]
    entries[tensor] = {**entry, "data_offsets": [len(data), len(data) + end - begin]}
    data += content[8 + length + begin : 8 + length + end]
    places[tensor] = f"{name}-{i % count + 1}.safetensors"
for i, (entries, data) in enumerate(shards):
    text = json.dumps(entries).encode()
    with open(f"{name}-{i + 1}.safetensors", "wb") as target:
        target.write(struct.pack("<Q", len(text)) + text + data)
with open(f"{name}.safetensors.index.json", "w") as target:
    json.dump({"metadata": {"total_size": len(content)}, "weight_map": places}, target)
