# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exits with 1 unless the page names every package of the list."""

import pathlib
import sys

packages, page = (pathlib.Path(path).read_text(encoding="utf-8") for path in sys.argv[1:3])
missing = [package for package in packages.split() if f"`{package}`" not in page]
if missing:
    sys.exit(f"{sys.argv[2]} does not say why these are needed: {', '.join(missing)}")
