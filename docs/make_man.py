# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the manual pages of veeline and of its commands, from what --help prints: make_man.py VEELINE FOLDER"""

import os
import pathlib
import re
import subprocess
import sys


def run(*command):
    # Pages are in English.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def page(veeline, command, about, others):
    version = run(veeline, "--version").strip()
    name = " ".join(["veeline", *command])
    text = run("help2man", "--no-info", "--section=1", f"--help-option={' '.join([*command, '--help'])}", f"--version-string={version}",
               f"--name={about}", veeline)
    title = name.replace(" ", "-")
    text = text.replace("\nveeline \\-", f"\n{title} \\-", 1)
    # A version says what a page is about; a date would only say when it was built.
    text = re.sub(r'^\.TH VEELINE "1" "[^"]*"', f'.TH {title.upper()} "1" ""', text, flags=re.MULTILINE)
    see = ", ".join(f".BR {other} (1)" for other in others if other != title)
    return text + '.SH "SEE ALSO"\n' + see.replace(", ", ",\n") + "\n"


def main():
    veeline, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    help_text = run(veeline, "--help")
    commands = dict(re.findall(r"^  (\w+) +(.+)$", help_text.partition("Subcommands:\n")[2], re.MULTILINE))
    titles = ["veeline", *(f"veeline-{command}" for command in commands)]
    pages = {"veeline": ([], help_text.splitlines()[0].partition(": ")[2])}
    pages |= {f"veeline-{command}": ([command], about) for command, about in commands.items()}
    for title, (command, about) in pages.items():
        (folder / f"{title}.1").write_text(page(veeline, command, about, titles), encoding="utf-8")


main()
