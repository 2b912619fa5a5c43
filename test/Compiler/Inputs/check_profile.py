"""Given a profile, prints the pieces of its chunks as --partition takes them; with an artifact that was compiled with it and
the same cuts, checks that its chunks and updates cost what was measured, up to the cost model's whole nanoseconds, of which some parts are a few."""

import json
import subprocess
import sys

profile = json.load(open(sys.argv[1]))
if len(sys.argv) == 2:
    print(",".join(str(chunk["pieces"]) for chunk in profile["chunks"]))
    sys.exit()

text = subprocess.run(["veeline", "inspect", "--json", sys.argv[2]], check=True, capture_output=True, text=True).stdout
program = next(p for p in json.loads(text)["programs"] if p["name"] == "pipeline")
assert len(program["chunks"]) == len(profile["chunks"])
for compiled, measured in zip(program["chunks"], profile["chunks"]):
    assert compiled["pieces"] == measured["pieces"], (compiled, measured)
    costs = {
        "F": compiled["forward_cost"],
        "B": compiled["backward_input_cost"],
        "W": compiled["backward_weight_cost"],
        "BW": compiled["backward_input_cost"] + compiled["backward_weight_cost"] - compiled["backward_shared_cost"],
    }
    for kind, cost in costs.items():
        if kind in measured:
            assert abs(cost - measured[kind]["us"]) < 0.01 + 0.005 * cost, (kind, cost, measured[kind])
    assert "F" in measured and ("W" in measured or "BW" in measured)
updates = sum(op["predicted_end"] - op["predicted_begin"] for rank in program["ranks"] for op in rank["ops"] if op["kind"] == "update")
assert abs(updates - profile["updates"]["us"]) < 1e-3 * updates, (updates, profile["updates"])
print(len(program["chunks"]), "chunks cost what was measured")
