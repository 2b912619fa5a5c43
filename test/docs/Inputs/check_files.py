"""Usage: check_files.py VEELINE PAGE

Checks that the page of files names every option of a command that takes a file or a folder.
"""

import pathlib
import re
import subprocess
import sys

veeline, page = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(encoding="utf-8")
# Their help says otherwise that they take a file.
MORE = {"compile": ["--dump-ir"], "inspect": ["--memory-svg"], "schedule": ["--schedule", "--from", "--cost-file"]}


def help_of(*command):
    return subprocess.run([veeline, *command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout


missing, count = [], 0
commands = re.findall(r"^  (\w+)  ", help_of().partition("Subcommands:\n")[2], re.M)
for command in commands:
    options = MORE.get(command, []) + [
        name.split(",")[-1] for name, takes in re.findall(r"^  (-\S+) (\S+)", help_of(command), re.M)
        if re.search("FILE|DIR|PATH|PREFIX|SOURCE", takes)]
    for option in options:
        count += 1
        if option == "--output":
            named = f"`{command} -o`" in page
        else:
            named = re.search(rf"[` ]{option}[` ]", page)
        if not named:
            missing.append(f"{command} {option}")
if missing:
    sys.exit(f"the page does not name {', '.join(missing)}")
print(f"{count} options of {len(commands)} commands are named")
