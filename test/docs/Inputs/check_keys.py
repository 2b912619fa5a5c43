# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints each key of a reference page that `veeline run` does not know.

Usage: check_keys.py PAGE
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys

keys = list(dict.fromkeys(re.findall(r"^- `([a-z0-9-]+)`:", pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"), re.M)))


def is_unknown(key):
    job = pathlib.Path(f"{key}.yaml")
    job.write_text(f"model: none.mlir\n{key}: 1\n", encoding="utf-8")
    return "unknown key" in subprocess.run(["veeline", "run", "--print", job], capture_output=True, text=True).stderr


tried = [*keys, "no-such-key"]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    unknown = [key for key, result in zip(tried, pool.map(is_unknown, tried)) if result]
print(f"{len(keys)} keys, unknown: {' '.join(unknown)}")
