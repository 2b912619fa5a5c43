"""Prints each link of Markdown pages to a file or a heading that is not there, and cells of tables that are too long to be read.

Usage: check_links.py PAGE...
"""

import pathlib
import re
import sys


def headings(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    return {re.sub(r"[^a-z0-9_ -]", "", title.lower()).strip().replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)}


def broken(page):
    for line, text in enumerate(page.read_text().splitlines(), 1):
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, heading = link.partition("#")
            target = (page.parent / name) if name else page
            if not target.exists():
                yield f"{page}:{line}: there is no '{name}'"
            elif heading and target.suffix == ".md" and heading not in headings(target):
                yield f"{page}:{line}: '{name or page.name}' has no heading '{heading}'"


def long_cells(page):
    text = re.sub(r"```.*?```", lambda match: "\n" * match[0].count("\n"), page.read_text(), flags=re.S)
    for line, row in enumerate(text.splitlines(), 1):
        longest = max(map(len, row.strip("|").split("|"))) if row.startswith("|") else 0
        if longest > 160:
            yield f"{page}:{line}: a cell of a table has {longest} characters; make a list of the table"


def main():
    pages = [pathlib.Path(page) for page in sys.argv[1:]]
    problems = [problem for page in pages for problem in (*broken(page), *long_cells(page))]
    print("\n".join(problems) if problems else f"links of {len(pages)} pages are right")
    sys.exit(bool(problems))


main()
