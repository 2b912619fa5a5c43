"""Usage: check_offload.py ARTIFACT SCHEDULE.json

Compares the times that an artifact predicts, waits for copies to the host's memory among them, with those of the simulator, and what is said of
the host's memory with the plan. Each link carries one copy at a time, and ops begin once what they need has left, or is back.
"""

import json
import subprocess
import sys

metadata = json.loads(subprocess.run(["veeline", "inspect", sys.argv[1], "--json"], check=True, stdout=subprocess.PIPE).stdout)
with open(sys.argv[2], encoding="utf-8") as file:
    simulated = json.load(file)
ranks = metadata["programs"][0]["ranks"]
work = "F", "BW", "B", "W"
predicted = max(op["predicted_end"] for rank in ranks for op in rank["ops"] if op["kind"] in work)
makespan = simulated["prediction"]["makespan"]
print(f"predicted: {predicted / makespan:.4f} of the simulated")


def check_times(rank):
    """By the times of the rank's own work."""
    ops, now, to_host, from_host = rank["ops"], 0, 0, 0
    begins = {copy[end]: copy for copy in rank["host_copies"] for end in ("offload", "reload")}
    left, back = {}, {}
    for number, op in enumerate(ops):
        if op["kind"] in work:
            begin = op["predicted_begin"]
            needed = max([time for before, time in left.items() if before <= number] + [0])
            if op["kind"] != "F":
                needed = max(needed, back.pop((op["chunk"], op["microbatch"]), 0))
            assert begin >= needed - 1e-6, (number, op, needed)
            now = op["predicted_end"]
        elif op["kind"] == "offload":
            to_host = max(to_host, now) + begins[number]["microseconds"]
            left[begins[number]["released_before"]] = to_host
        elif op["kind"] == "reload":
            from_host = max(from_host, now) + begins[number]["microseconds"]
            back[op["chunk"], op["microbatch"]] = from_host


for rank in ranks:
    check_times(rank)
    assert len(rank["host_copies"]) == rank["offloads"], rank
    assert bool(rank["host_regions"]) == bool(rank["offloads"]), rank
    ends = [region["offset"] + region["bytes"] for region in rank["host_regions"]]
    assert rank["host_bytes"] - 64 < max(ends, default=0) <= rank["host_bytes"], rank
    for copy in rank["host_copies"]:
        assert copy["offload"] < copy["released_before"] <= copy["reload"], copy
    for one in rank["host_regions"]:
        for other in rank["host_regions"]:
            beside = one["offset"] + one["bytes"] <= other["offset"] or other["offset"] + other["bytes"] <= one["offset"]
            apart = one["last_op"] < other["first_op"] or other["last_op"] < one["first_op"]
            assert one is other or beside or apart, (one, other)
print("offloads of each rank:", *(rank["offloads"] for rank in ranks))
