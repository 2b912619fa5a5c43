"""Usage: options.py PAGE < HELP

Compares the options of `veeline train`, by its help, with those of a Trainer, and with those that PAGE says it does not have; prints the former.
"""

import pathlib
import re
import sys

import veeline

MARK = "<!-- options that a program that trains does not have -->"


def as_written(names):
    """The names of a Trainer as a command has them."""
    return {name.removesuffix("_").replace("_", "-") for name in names}


def documented(page):
    """The names between the marks of a page."""
    return re.findall(r"`([a-z0-9-]+)`", page.split(MARK)[1].split("<!-- end -->")[0])


# Names of one option are joined by commas.
declared = re.findall(r"^  (-\S+)", sys.stdin.read(), re.MULTILINE)
of_command = {name.removeprefix("--") for names in declared for name in names.split(",") if name.startswith("--")} - {"help"}
accepted = as_written(veeline.trainer_options())
left_out = documented(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))
for what, names in [
        ("of veeline train, and neither a Trainer's nor on the page", of_command - accepted - set(left_out)),
        ("both a Trainer's and on the page", accepted & set(left_out)),
        ("on the page, and not of veeline train", set(left_out) - of_command),
        ("a Trainer's, and not of veeline train", accepted - of_command),
        ("twice on the page", {name for name in left_out if left_out.count(name) > 1})]:
    if names:
        sys.exit(f"{what}: {', '.join(sorted(names))}")
for name in left_out:
    try:
        veeline.Trainer("none.vee", **{name: "1"})
        sys.exit(f"a Trainer takes {name}")
    except veeline.InvalidError as error:
        assert f"option '{name}' is one of veeline train alone" in str(error), error
print("\n".join(sorted(accepted)))
print("done")
