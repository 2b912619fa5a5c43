# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints each page of a folder that its README.md does not list in a table, and each that is listed twice.

Usage: check_list.py FOLDER
"""

import collections
import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
listed = collections.Counter(re.findall(r"^\| \[[\w-]+\.md\]\(([\w-]+\.md)\)", (folder / "README.md").read_text(encoding="utf-8"), re.M))
problems = [f"README.md does not list {page.name}" for page in sorted(folder.glob("*.md")) if page.name not in (*listed, "README.md")]
problems += [f"README.md lists {name} {count} times" for name, count in listed.items() if count > 1]
print("\n".join(problems) if problems else f"{len(listed)} pages are listed")
sys.exit(bool(problems))
