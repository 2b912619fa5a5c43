# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a page and the JSON of every schedule: all_pages.py FOLDER"""

import re
import subprocess
import sys


def main():
    known = subprocess.run(["veeline", "schedule", "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    names = re.findall(r"^([a-z0-9-]+) +", known, re.M)
    for name in names:
        search = ["--time-budget", "0.2"] if name == "auto" else []
        path = f"{sys.argv[1]}/{name}"
        subprocess.run(["veeline", "schedule", "--schedule", name, "--stages", "4", "--microbatches", "8", "--show", "summary", *search,
                        "-o", path + ".html", "-o", path + ".json"], stdout=subprocess.PIPE, check=True)


main()
