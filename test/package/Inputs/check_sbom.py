"""Usage: check_sbom.py DEPENDENCIES TREE...

Checks the list of what each installed TREE is made of: that it is SPDX 2.3 (clauses 6 to 11 of the specification), and that it names
every library that something installed is linked to, and between them every library of headers of the page DEPENDENCIES. Their licences
have to be in the tree's copyright file.
"""

import json
import pathlib
import re
import subprocess
import sys

IDENTIFIER = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
# Of SPDX's list of licences, those that we have met.
LICENCES = {"Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "GPL-2.0-only", "GPL-2.0-or-later", "GPL-3.0-only", "GPL-3.0-or-later",
            "LGPL-2.1-only", "LGPL-2.1-or-later", "MIT", "PSF-2.0", "Zlib"}
EXCEPTIONS = {"LLVM-exception", "GCC-exception-3.1"}
# Of those that the specification defines, the ones that are used.
RELATIONSHIPS = {"DESCRIBES", "DYNAMIC_LINK", "STATIC_LINK", "BUILD_DEPENDENCY_OF", "BUILD_TOOL_OF", "RUNTIME_DEPENDENCY_OF", "OPTIONAL_DEPENDENCY_OF"}


def check(condition, message):
    if not condition:
        sys.exit(message)


def check_licence(text, own, where):
    if text in ("NOASSERTION", "NONE"):
        return
    for part in re.split(r" AND | OR ", text.replace("(", "").replace(")", "")):
        licence, _, exception = part.partition(" WITH ")
        check(licence in LICENCES | own, f"{where}: {licence} is no licence of SPDX's")
        check(not exception or exception in EXCEPTIONS, f"{where}: {exception} is no exception of SPDX's")


def check_form(document):
    check(document["spdxVersion"] == "SPDX-2.3" and document["dataLicense"] == "CC0-1.0", "another version or licence of the list")
    check(document["SPDXID"] == "SPDXRef-DOCUMENT" and document["name"], "the list has no name")
    check(re.fullmatch(r"[a-z][a-z0-9+.-]*:[^#\s]+", document["documentNamespace"]), "the namespace is no URI")
    created = document["creationInfo"]
    check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", created["created"]), f"the date is {created['created']}")
    check(created["creators"] and all(re.match(r"(Person|Organization|Tool): \S", creator) for creator in created["creators"]), "nobody made it")
    own = {text["licenseId"] for text in document.get("hasExtractedLicensingInfos", []) if text["extractedText"]}
    check(all(re.fullmatch(r"LicenseRef-[A-Za-z0-9.-]+", licence) for licence in own), f"licences are called {own}")
    known = {"SPDXRef-DOCUMENT"}
    for package in document["packages"]:
        name = package["name"]
        check(IDENTIFIER.fullmatch(package["SPDXID"]) and package["SPDXID"] not in known, f"{name}: its identifier is wrong, or another's")
        known.add(package["SPDXID"])
        check(package["downloadLocation"] and package["filesAnalyzed"] is False and package["copyrightText"], f"{name}: a field is missing")
        check(re.fullmatch(r"NOASSERTION|(Person|Organization): .+", package["supplier"]), f"{name}: its supplier is {package['supplier']}")
        for field in ("licenseDeclared", "licenseConcluded"):
            check_licence(package[field], own, name)
        for reference in package.get("externalRefs", []):
            check(reference["referenceCategory"] == "PACKAGE-MANAGER" and reference["referenceType"] == "purl"
                  and re.fullmatch(r"pkg:deb/debian/[a-z0-9.%A-Z-]+@[^@?\s]+\?arch=\w+", reference["referenceLocator"]), f"{name}: {reference}")
            check(package["versionInfo"], f"{name} has no version")
    check(set(document["documentDescribes"]) <= known, "it describes what it does not list")
    for relationship in document["relationships"]:
        check({relationship["spdxElementId"], relationship["relatedSpdxElement"]} <= known, f"{relationship} is with what is not listed")
        check(relationship["relationshipType"] in RELATIONSHIPS, f"{relationship} is of no kind")


def find_linked(tree):
    """Packages that have what is linked to, as the loader finds it."""
    packages = set()
    for path in tree.rglob("*"):
        if path.is_symlink() or not path.is_file() or path.read_bytes()[:4] != b"\x7fELF":
            continue
        dynamic = subprocess.run(["readelf", "--dynamic", path], capture_output=True, text=True, check=True).stdout
        needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic))
        found = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        for name, place in re.findall(r"(\S+) => (\S+)", found) + [(pathlib.Path(line).name, line) for line in re.findall(r"^\s*(/\S+)", found, re.MULTILINE)]:
            if name in needed:
                place = str(pathlib.Path(place).resolve())
                owner = subprocess.run(["dpkg-query", "--search", place, place.removeprefix("/usr")], capture_output=True, text=True).stdout
                packages.add(owner.partition(":")[0])
    return packages


dependencies = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
header_libraries = set(re.findall(r"^\|[^|]*\| `([^`]+)` \|[^|]*headers only", dependencies, re.MULTILINE))
check(len(header_libraries) >= 3, f"{sys.argv[1]} names {header_libraries} as headers only")
listed_anywhere = set()
for tree in map(pathlib.Path, sys.argv[2:]):
    path, = tree.rglob("*.spdx.json")
    document = json.loads(path.read_text(encoding="utf-8"))
    check_form(document)
    names = {package["SPDXID"]: package["name"] for package in document["packages"]}
    links = {kind: {names[r["relatedSpdxElement"]] for r in document["relationships"] if r["relationshipType"] == kind}
             for kind in ("DYNAMIC_LINK", "STATIC_LINK")}
    linked = find_linked(tree)
    check(linked == links["DYNAMIC_LINK"], f"{path.name}: {sorted(linked ^ links['DYNAMIC_LINK'])} are linked to or listed, not both")
    copyright_text = (path.parent / "copyright").read_text(encoding="utf-8")
    for library in links["STATIC_LINK"] & header_libraries:
        check(f"Comment: Debian's {library}." in copyright_text, f"{path.parent}/copyright has no licence of {library}")
    listed_anywhere |= links["STATIC_LINK"]
    print(f"{path.name}: {len(links['DYNAMIC_LINK'])} linked to, {len(links['STATIC_LINK'])} compiled in, {len(names)} in all")
check(header_libraries <= listed_anywhere, f"{sorted(header_libraries - listed_anywhere)} are nowhere compiled in")
