#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a device demands of PTX on standard input, and an emulation of the gpu dialect does not see.

Each shuffle is of the whole warp. Each buffer of shared memory starts at a multiple
of 16 bytes, by which accesses are joined; dynamic shared memory is declared, and is
no variable. Accesses by name are at multiples of their widths.
"""

import re
import sys

WIDTHS = {"8": 1, "16": 2, "32": 4, "64": 8}
errors, counts = [], {"kernels": 0, "shuffles": 0, "shared buffers": 0, "wide accesses": 0}
kernel = "no kernel"
for line in map(str.strip, sys.stdin):
    if entry := re.search(r"\.entry (\w+)\(", line):
        kernel = entry[1]
        counts["kernels"] += 1
    elif line.startswith("shfl."):
        counts["shuffles"] += 1
        # The last operand is the mask of lanes, the one before has the clamp and the mask of segments.
        *_, clamp, lanes = re.split(r",\s*", line.rstrip(";"))
        if (clamp, lanes) != ("31", "-1"):
            errors.append(f"{kernel}: expected clamp 31 and lanes -1, found {clamp} and {lanes}: {line}")
    elif buffer := re.match(r"(\.extern )?(?:\.visible )?\.shared (?:\.align (\d+) )?\.\w+ ([\w$]+)(?:\[\d*\])?;", line):
        counts["shared buffers"] += 1
        is_extern, alignment, name = buffer.groups()
        if int(alignment or 1) % 16:
            errors.append(f"{kernel}: expected shared buffer '{name}' at a multiple of 16, found {alignment}")
        if "dynamic" in name and not is_extern:
            errors.append(f"{kernel}: expected dynamic shared memory '{name}' to be extern: {line}")
    elif access := re.match(r"(?:@\S+ )?(?:ld|st)\.shared\.(?:v(\d)\.)?b(\d+)\s.*\[([\w$%]+)(?:\+(-?\d+))?\]", line):
        lanes, bits, base, offset = access.groups()
        width = int(lanes or 1) * WIDTHS[bits]
        counts["wide accesses"] += width == 16
        if not base.startswith("%") and int(offset or 0) % width:
            errors.append(f"{kernel}: expected an offset that is a multiple of {width}, found {offset}: {line}")

if not counts["kernels"]:
    errors.append("there is no kernel")
print("\n".join(errors) or ", ".join(f"{count} {what}" for what, count in counts.items()))
sys.exit(1 if errors else 0)
