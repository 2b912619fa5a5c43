# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the folder that Sphinx reads: the pages, the generated reference, and a menu in the order of docs/README.md.

Usage: stage.py SOURCE REFERENCE FOLDER [--source-url URL]

SOURCE is the repository, REFERENCE what `ninja veeline-docs` has written. Links to files that are no pages become links to URL/PATH,
or text without a URL.
"""

import argparse
import os
import pathlib
import re
import shutil

# What the site has from outside of docs.
OTHERS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "CODE_OF_CONDUCT.md")
REFERENCE = {"commands": "Commands", "job-keys": "Keys of a job", "c-api": "The C API", "python-api": "The package of Python",
             "pipe-dialect": "The pipe dialect", "attention-ops": "Ops of attention", "import-passes": "Passes: import",
             "pipe-passes": "Passes: from a model to programs", "memory-passes": "Passes: whole pipelines",
             "host-code-passes": "Passes: code", "differentiable-op-interface": "Interface: derivatives",
             "cost-op-interface": "Interface: costs"}


class Stage:
    def __init__(self, source, url):
        self.source, self.url = source, url
        self.pages = {path for path in source.glob("docs/**/*.md")} | {source / name for name in OTHERS}
        self.pages |= set(source.glob("examples/*/README.md"))

    def link(self, page, match):
        """A link of a page as the site has it."""
        text, target = match[1], match[2]
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        name, _, heading = target.partition("#")
        path = (page.parent / name).resolve()
        if path.is_dir() and path / "README.md" in self.pages:
            path /= "README.md"
        if path in self.pages:
            text = "" if text == name else text  # Sphinx takes the title.
            return f"[{text}]({os.path.relpath(path, page.parent)}{'#' + heading if heading else ''})"
        if path.suffix in (".svg", ".png") or path.is_relative_to(self.source / "build"):
            return match[0]
        return f"[{text}]({self.url}/{path.relative_to(self.source)})" if self.url else text

    def convert(self, page, text):
        """The text with its links changed, outside of code."""
        token = r"^```.*?^```$|!?\[([^\[\]]*)\]\(([^)\s]+)\)|`[^`\n]+`"
        return re.sub(token, lambda match: self.link(page, match) if match[2] and match[0][0] != "!" else match[0], text, flags=re.S | re.M)


def menu(text):
    """The headings of docs/README.md, each with the pages of its table."""
    for section in re.split(r"^## ", text, flags=re.M)[1:]:
        title, _, body = section.partition("\n")
        yield title.strip(), re.findall(r"^\| \[[\w-]+\.md\]\(([\w-]+)\.md\)", body, re.M)


INTRODUCTION = """# Veeline

Veeline compiles pipeline-parallel training: it cuts a model into stages, orders their work, and writes native code for each.
[The tutorial](docs/tutorial.md) trains a small model. [The overview](README.md) says what there is.
"""


def toctree(title, *entries):
    return "\n".join(["```{toctree}", f":caption: {title}", ":maxdepth: 1", ":hidden:", ":glob:", "", *entries, "```", ""])


def index(text):
    """The first page: the tables of docs/README.md, and the menu."""
    sections = text[text.index("## "):].partition("The rest of the reference")[0] + "\n" + text[text.index("## How it works"):]
    lines = [INTRODUCTION, re.sub(r"\]\((?=[\w-]+\.md)", "](docs/", re.sub(r"\[[\w-]+\.md\]", "[]", sections))]
    for title, pages in menu(text):
        entries = [f"docs/{page}" for page in pages]
        if title == "Start":
            entries.insert(0, "Overview <README>")
        if title == "Reference":
            entries += [f"{label} <reference/{name}>" for name, label in REFERENCE.items()]
        if title == "The project":
            entries += ["CHANGELOG", "CONTRIBUTING", "CODE_OF_CONDUCT", "List of pages <docs/README>", "docs/site/README"]
        lines.append(toctree(title, *entries))
    return "\n".join([*lines, toctree("Examples", "examples/*/README")])


def reference(title, text):
    """A page of mlir-tblgen with one heading at the top, and none left out below it."""
    text = re.sub(r"\[[\w-]+\.md\]\(", "[](", text.replace("[TOC]\n", ""))  # Sphinx takes the title.
    headings = [len(match) for match in re.findall(r"^(#+) ", re.sub(r"^```.*?^```$", "", text, flags=re.S | re.M), re.M)]
    if headings.count(1) == 1 and headings[0] == 1:
        return text
    top = min(headings)
    if top == 1:
        text = re.sub(r"^# .*$", "", text, flags=re.M)
    else:
        text = re.sub(r"^#+(?= )", lambda match: "#" * (len(match[0]) - top + 2), text, flags=re.M)
    return f"# {title}\n\n{text}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("reference", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--source-url", default="")
    options = parser.parse_args()
    source, folder = options.source.resolve(), options.folder
    stage = Stage(source, options.source_url.rstrip("/"))
    shutil.rmtree(folder, ignore_errors=True)
    for page in stage.pages:
        target = folder / page.relative_to(source)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(stage.convert(page, page.read_text(encoding="utf-8")), encoding="utf-8")
    for pictures in ("drawings", "plots"):
        shutil.copytree(source / "docs" / pictures, folder / "docs" / pictures)
    (folder / "reference").mkdir()
    for name, title in REFERENCE.items():
        text = (options.reference / f"{name}.md").read_text(encoding="utf-8")
        (folder / "reference" / f"{name}.md").write_text(reference(title, text), encoding="utf-8")
    (folder / "index.md").write_text(index((source / "docs/README.md").read_text(encoding="utf-8")), encoding="utf-8")
    for file in ("conf.py", "site.css"):
        shutil.copy(source / "docs/site" / file, folder)


main()
