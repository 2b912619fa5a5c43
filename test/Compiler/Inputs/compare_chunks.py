"""Compares chunks of artifacts: by default, in full, and with a list."""

import json
import subprocess
import sys


def read(path):
    metadata = json.loads(subprocess.run(["veeline", "inspect", "--json", path], check=True, capture_output=True, text=True).stdout)
    program = next(program for program in metadata["programs"] if program["name"] == "pipeline")
    return metadata, program["chunks"]


def main():
    (_, default), (_, full), (metadata, listed) = map(read, sys.argv[1:])
    numbers = range(len(default))
    less = [k for k in numbers if full[k]["residual_bytes"] < default[k]["residual_bytes"]]
    same = all(full[k]["forward_cost"] <= default[k]["forward_cost"] for k in numbers)
    # The first chunk has a W alone.
    dearer = [k for k in numbers if full[k]["backward_input_cost"] >= default[k]["backward_input_cost"] + 0.7 * default[k]["forward_cost"]
              and default[k]["backward_input_cost"] > 0]
    print("default to full: kept", *less, "less;", "F as dear," if same else "F dearer,", "B", *dearer, "dearer")
    print("options of the list:", dict(metadata["options"])["recompute"])
    print("the first of the list is", "as in full," if listed[0] == full[0] else "another,", "the second keeps",
          "more than by default" if listed[1]["residual_bytes"] > default[1]["residual_bytes"] else "no more")


main()
