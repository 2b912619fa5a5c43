# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what kinds of matrix products the ranks of an artifact have, each once: products.py ARTIFACT"""

import json
import subprocess
import sys

output = subprocess.run(["veeline", "inspect", "--json", sys.argv[1]], check=True, stdout=subprocess.PIPE).stdout
kinds = set()
for program in json.loads(output)["programs"]:
    for rank in program["ranks"]:
        for gemm in rank["gemms"]:
            kind = f"{gemm['type']} to {gemm['c_type']}"
            kind += ", accumulate" if gemm["accumulate"] else ""
            kind += f", {gemm['epilogue']}" if gemm["epilogue"] != "none" else ""
            kinds.add(kind)
print("\n".join(sorted(kinds)))
