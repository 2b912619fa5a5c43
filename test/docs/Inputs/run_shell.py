"""Usage: run_shell.py PAGE [WORD...]

Runs the shell commands of a page, one block after the other; with WORDs those blocks alone that begin with one, in two steps where they
have more. A block that is a script becomes still_fails.sh.
"""

import os
import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    blocks = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.S | re.M)
words = tuple(sys.argv[2:])
if words:
    blocks = [re.sub(r"--steps \d+", "--steps 2", block) for block in blocks if block.startswith(words)]
for block in blocks:
    if block.startswith("#!"):
        with open("still_fails.sh", "w", encoding="utf-8") as file:
            file.write(block)
        os.chmod("still_fails.sh", 0o755)
    else:
        subprocess.run(["bash", "-eu", "-o", "pipefail", "-c", block], check=True)
print(f"{len(blocks)} blocks run")
