"""Usage: run_shell.py PAGE

Runs the shell commands of a page, one block after the other. A block that is a script becomes still_fails.sh.
"""

import os
import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    blocks = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.S | re.M)
for block in blocks:
    if block.startswith("#!"):
        with open("still_fails.sh", "w", encoding="utf-8") as file:
            file.write(block)
        os.chmod("still_fails.sh", 0o755)
    else:
        subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", block], check=True)
print(f"{len(blocks)} blocks run")
