# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints how many times larger the arenas of one module are than those of another: arenas.py FILE FILE."""

import pathlib
import re
import sys

small, large = ([int(bytes) for bytes in re.findall(r"arena_bytes = (\d+)", pathlib.Path(path).read_text())] for path in sys.argv[1:])
if not small or len(small) != len(large):
    sys.exit(f"arenas {small} and {large}")
print(f"{len(small)} arenas,", " and ".join(f"{b / a:.1f}" for a, b in zip(small, large)), "times as large")
