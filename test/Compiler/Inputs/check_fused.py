"""Checks that every fused backward of an artifact is predicted to take what B and W take, less what they share, and prints
how many chunks share something.

Usage: check_fused.py ARTIFACT
"""

import json
import subprocess
import sys

text = subprocess.run(["veeline", "inspect", "--json", sys.argv[1]], check=True, capture_output=True, text=True).stdout
program = next(p for p in json.loads(text)["programs"] if p["name"] == "pipeline")
chunks = program["chunks"]
fused = [op for rank in program["ranks"] for op in rank["ops"] if op["kind"] == "BW"]
assert {op["chunk"] for op in fused} == set(range(len(chunks)))
for op in fused:
    chunk = chunks[op["chunk"]]
    expected = chunk["backward_input_cost"] + chunk["backward_weight_cost"] - chunk["backward_shared_cost"]
    assert abs(op["predicted_end"] - op["predicted_begin"] - expected) < 1e-3, (op, chunk)
shares = [k for k, chunk in enumerate(chunks) if chunk["backward_shared_cost"] > 0]
print("chunks whose B and W share work:", *shares)
