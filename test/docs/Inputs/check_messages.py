# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints each message in a text block of a page that no source file says any more.

Usage: check_messages.py PAGE FOLDER...

`...` in a message stands for what the program puts in. What is between has to be part of one text of a source file: of a string of
C++, whose pieces on several lines are one, or of a line of a script.
"""

import pathlib
import re
import sys

STRING = r'"(?:[^"\\\n]|\\.)*"'


def texts(file):
    source = file.read_text(encoding="utf-8", errors="replace")
    if file.suffix not in (".cpp", ".h"):
        yield re.sub(r"\\\n", "", source)
        return
    for match in re.finditer(rf"{STRING}(?:\s*{STRING})*", source):
        yield "".join(piece[1:-1] for piece in re.findall(STRING, match[0])).replace('\\"', '"')


def main():
    page, *folders = map(pathlib.Path, sys.argv[1:])
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file() and (file.suffix in (".cpp", ".h", "", ".py"))]
    known = "\n".join(text for file in files for text in texts(file))
    messages = re.findall(r"^```text\n(.*?)^```$", page.read_text(encoding="utf-8"), re.S | re.M)
    missing = [part for message in messages for part in map(str.strip, message.strip().split("...")) if part not in known]
    for part in missing:
        print(f"{page.name}: no source file says '{part}'")
    if not missing:
        print(f"{len(messages)} messages are those of the source")
    sys.exit(bool(missing))


main()
