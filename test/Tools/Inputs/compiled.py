"""Usage: compiled.py JSON ARTIFACT

Prints what `veeline compile --json` says of programs and phases, and checks what can be known otherwise.
"""

import json
import os
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    made = json.load(file)
assert made["artifact"] == sys.argv[2] and made["bytes"] == os.path.getsize(sys.argv[2])
for program in made["programs"]:
    ranks = program["ranks"]
    assert all(rank["arena_bytes"] >= rank["peak_live_bytes"] > 0 == rank["host_bytes"] < rank["ops"] for rank in ranks)
    assert program["predicted_step_microseconds"] > 0
    print(f"{program['program']}: {program['schedule']}, {program['stages']} stages, {len(ranks)} arenas")
phases = made["phases"]
assert 0 < sum(phase["seconds"] for phase in phases) <= made["seconds"]
print("phases:", ", ".join(f"{phase['program']} {phase['phase']}".strip() for phase in phases))
