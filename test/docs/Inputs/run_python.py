"""Usage: run_python.py PAGE

Runs the examples of a page that are Python, one after the other in one interpreter, and the shell commands that compile.
"""

import re
import subprocess
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    examples = re.findall(r"^```(python|sh)\n(.*?)^```$", file.read(), re.S | re.M)
scope, count = {}, 0
for language, example in examples:
    if language == "python":
        exec(compile(example, f"example {count + 1} of {sys.argv[1]}", "exec"), scope)
        count += 1
    elif example.startswith("veeline "):
        subprocess.run(["bash", "-euc", example], check=True)
print(f"{count} examples run")
