# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that memory in a drawing of inspect --memory-svg has levels alone: an amount that changes does so at once."""

import re
import sys

areas = re.findall(r'<path [^>]*d="([^"]+)"', open(sys.argv[1]).read())
for area in areas:
    x = None
    for kind, numbers in re.findall(r"([MLH])([-\d. ]+)", area):
        at = float(numbers.split()[0])
        if kind == "L" and at != x:
            sys.exit(f"a slope from {x} to {at}")
        x = at
print(f"{len(areas)} areas have levels")
