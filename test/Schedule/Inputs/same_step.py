"""Exits with an error unless `veeline inspect` and `veeline schedule` say the same of a step.

Usage: same_step.py INSPECT SCHEDULE, what each has printed
"""

import re
import sys

inspect, schedule = (open(path).read() for path in sys.argv[1:])
step, bubble = map(float, re.search(r"predicted step (\S+) ms, bubble of the worst rank (\S+)%", inspect).groups())
makespan = float(re.search(r"^makespan +(\S+)", schedule, re.MULTILINE)[1])  # In microseconds.
share = float(re.search(r"^bubble +(\S+)", schedule, re.MULTILINE)[1])
if abs(step - makespan / 1e3) > 0.001 or abs(bubble / 100 - share) > 0.001:
    sys.exit(f"{step} ms with a bubble of {bubble} %, but {makespan} us with one of {share}")
