# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks lines of --log json on standard input against the table of a page: json_log.py PAGE. Prints each event that came, with its count."""

import collections
import json
import pathlib
import re
import sys

TYPES = {"string": str, "integer": int, "number": (int, float, type(None)), "object": dict, "flag": bool}


def read_schema(page):
    """By event: a list of (member, type, whether it is always there)."""
    schema = {}
    for event, member, text in re.findall(r"^\| (?:`(\w+)`)? ?\| (?:`(\w+)`)? ?\| (.*) \|$", page, re.M):
        if event:
            members = schema[event] = []
        elif member:
            members.append((member, TYPES[re.match(r"\w+", text)[0]], ", where" not in text))
    return schema


def check(event, members):
    name = event.pop("event")
    names = [member for member, _, _ in members]
    for member, value in event.items():
        if member not in names:
            sys.exit(f"the page has no member '{member}' of '{name}'")
        kind = members[names.index(member)][1]
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            sys.exit(f"'{member}' of '{name}' is {value!r}")
    for member, _, isAlways in members:
        if isAlways and member not in event:
            sys.exit(f"'{name}' lacks '{member}'")
    if list(event) != [member for member in names if member in event]:
        sys.exit(f"the members of '{name}' have another order: {list(event)}")
    for value in event.get("metrics", {}).values():
        if not isinstance(value, TYPES["number"]):
            sys.exit(f"a metric is {value!r}")


def main():
    schema = read_schema(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
    counts = collections.Counter()
    for line in sys.stdin:
        event = json.loads(line, parse_constant=lambda text: sys.exit(f"{text} is no number of JSON"))
        counts[event["event"]] += 1
        check(event, schema[event["event"]])
    for event, count in counts.items():
        print(f"{event}: {count}")


if __name__ == "__main__":
    main()
