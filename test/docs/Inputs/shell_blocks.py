# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the shell commands of a page, one block after the other: shell_blocks.py PAGE."""

import pathlib
import re
import sys

page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
print("".join(re.findall(r"^```sh\n(.*?)^```$", page, re.S | re.M)), end="")
