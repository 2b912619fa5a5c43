"""Reads `veeline inspect --json` and checks each rank's arena against 1.05 times
the largest sum of live bytes."""

import json
import sys

for program in json.load(sys.stdin)["programs"]:
    for number, rank in enumerate(program["ranks"]):
        arena, live = rank["arena_bytes"], rank["peak_live_bytes"]
        name = f"{program['name']} rank {number}"
        if not 0 < live <= arena <= 1.05 * live:
            sys.exit(f"{name}: arena {arena}, live {live}: {arena / live:.3f}")
        print(f"{name}: {arena / live:.3f}")
