"""Usage: page_locked.py LOG ARTIFACT

Compares what `veeline train --check-memory` prints of page-locked memory with the plan.
"""

import json
import re
import subprocess
import sys

log = open(sys.argv[1], encoding="utf-8").read()
found = re.search(r"^page-locked memory of the host, by rank: (.*) bytes; for what is offloaded: (.*)$", log, re.MULTILINE)
every, offloaded = ([int(number) for number in group.split(", ")] for group in found.groups())
metadata = json.loads(subprocess.run(["veeline", "inspect", sys.argv[2], "--json"], check=True, stdout=subprocess.PIPE).stdout)
planned = [rank["host_bytes"] for rank in metadata["programs"][0]["ranks"]]
assert offloaded == planned, (offloaded, planned)
assert all(a > b for a, b in zip(every, offloaded)), (every, offloaded)
print("as planned, and more beside it")
