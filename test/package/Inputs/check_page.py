"""Usage: check_page.py PAGE PROJECTS BIN

Checks that every example of a page is part of a file that a test builds: a marked part, a definition, lines of a CMakeLists.txt. Runs
the shell commands of the page that ask veeline-config, which is in BIN.
"""

import os
import pathlib
import re
import subprocess
import sys

page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
files = {path: path.read_text(encoding="utf-8") for path in pathlib.Path(sys.argv[2]).glob("*/*") if path.is_file()}
MARKED = r"(?:// |/\* )\[docs: \w+\](?: \*/)?\n(.*?)(?:// |/\* )\[docs: end\]"
marked = [part for text in files.values() for part in re.findall(MARKED, text, re.S)]


def is_built(language, example):
    if language in ("c", "cpp"):
        return example in marked
    if language == "tablegen":
        return any(example in text for text in files.values())
    lines = {line for path, text in files.items() if path.name == "CMakeLists.txt" for line in text.splitlines()}
    return set(example.splitlines()) <= lines


examples = re.findall(r"^```(c|cpp|tablegen|cmake)\n(.*?)^```$", page, re.S | re.M)
for language, example in examples:
    if not is_built(language, example):
        sys.exit(f"{sys.argv[1]} shows what is in no file:\n{example}")
environment = {**os.environ, "PATH": f"{os.path.abspath(sys.argv[3])}:{os.environ['PATH']}"}
commands = [block for block in re.findall(r"^```sh\n(.*?)^```$", page, re.S | re.M) if "veeline-config" in block]
for command in commands:
    subprocess.run(["bash", "-euc", command], check=True, env=environment)
print(f"{len(examples)} examples are built, {len(commands)} commands run")
