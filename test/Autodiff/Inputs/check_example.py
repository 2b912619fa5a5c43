# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exits with 1 unless the C++ block of the page is the marked part of the test."""

import re
import sys

page, test = (open(path, encoding="utf-8").read() for path in sys.argv[1:3])
example = re.search(r"```cpp\n(.*?)```", page, re.S).group(1).strip()
tested = re.search(r"// \[docs: rule\]\n(.*?)// \[docs: end\]", test, re.S).group(1).strip()
if example != tested:
    sys.exit(f"{sys.argv[1]} and {sys.argv[2]} differ:\n{example}\n---\n{tested}")
