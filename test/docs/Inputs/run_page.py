# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the commands of a page and compares what they print with the page.

An mlir block is written to the current directory, to the file that its first
line names in a comment (`// one.mlir`) or else to net.mlir. So are blocks of
other languages whose first line names a file (`# data.py`, `/* order.c */`).
The commands of console blocks are run by bash: a line that begins with `$ ` is
a command, what follows is its output: `...` stands for any text, on a line of
its own for any number of lines.
A command with the comment `# error` has to fail, and its output is that of the
standard error.
"""

import pathlib
import re
import subprocess
import sys


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.S | re.M)


def commands(block):
    """Pairs of a command and the output that the page shows."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output


def pattern(output):
    """The regular expression that `output` stands for."""
    expression = ""
    for line in output.splitlines():
        if line == "...":
            expression += r"(?:.*\n)*?"
        else:
            expression += ".*?".join(map(re.escape, line.split("..."))) + "\n"
    return expression


def main():
    page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
    for model in blocks(page, "mlir"):
        name = re.match(r"// (\w+\.mlir)\n", model)
        pathlib.Path(name[1] if name else "net.mlir").write_text(model, encoding="utf-8")
    for text in blocks(page, "(?:python|yaml|cmake|c)"):
        name = re.match(r"(?:#|/\*) ([\w-]+\.(?:py|yaml|txt|c))(?: \*/)?\n", text)
        if name:
            pathlib.Path(name[1]).write_text(text, encoding="utf-8")
    number = 0
    for command, output in (pair for block in blocks(page, "console") for pair in commands(block)):
        fails = command.endswith("# error")
        result = subprocess.run(["bash", "-c", command], text=True, **{"stderr" if fails else "stdout": subprocess.PIPE})
        if (result.returncode != 0) != fails:
            sys.exit(f"`{command}` ended with exit code {result.returncode}")
        printed = result.stderr if fails else result.stdout
        if not re.fullmatch(pattern(output), printed):
            sys.exit(f"`{command}` prints\n{printed}\nbut {sys.argv[1]} shows\n{output}")
        number += 1
    print(f"{number} commands")


if __name__ == "__main__":
    main()
