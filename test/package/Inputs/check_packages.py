"""Usage: check_packages.py FOLDER PROJECT

Checks the Debian packages in FOLDER against what the project says of them, and unpacks them to the folder unpacked/NAME.
"""

import pathlib
import re
import subprocess
import sys

folder, project = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
NAMES = {"veeline-runtime": "amd64", "veeline-tools": "amd64", "veeline-dev": "amd64", "python3-veeline": "all"}
# Where files may be; /usr/lib/NAME is a package's own.
PLACES = re.compile(r"\./usr/(bin|include|lib/(veeline|cmake/Veeline|python3/dist-packages/veeline)|share/(man/man1|doc/[a-z0-9-]+|lintian/overrides"
                    r"|bash-completion/completions|fish/vendor_completions\.d|zsh/vendor-completions))/[^/].*|\./usr/lib/[^/]+\.(a|so[.\d]*)")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def check(condition, message):
    if not condition:
        sys.exit(message)


def read_fields(path):
    text = re.sub(r"\n ", "\n  ", run("dpkg-deb", "--field", path))
    return dict(re.findall(r"^([A-Z][\w-]*): (.*(?:\n .*)*)", text, re.MULTILINE))


def check_files(name, path):
    for line in run("dpkg-deb", "--contents", path).splitlines():
        mode, owner, _, date, _, file = line.split(None, 5)
        check(owner == "root/root", f"{name}: {file} belongs to {owner}")
        check(date == dates.setdefault("date", date), f"{name}: {file} is of {date}, and others are of {dates['date']}")
        if mode[0] == "-":
            check(PLACES.fullmatch(file), f"{name}: {file} is where no package puts files")
            is_executable = file.startswith("./usr/bin/")
            check(mode == ("-rwxr-xr-x" if is_executable else "-rw-r--r--"), f"{name}: {file} has the mode {mode}")
            check(files.setdefault(file, name) == name, f"{file} is in {name} and {files[file]}")


def relations(fields):
    return [re.match(r"[a-z0-9+.-]+", part.strip())[0] for field in ("Depends", "Recommends") for part in fields.get(field, "").split(",") if part]


paths = {path.name.partition("_")[0]: path for path in folder.glob("*.deb")}
check(set(paths) == set(NAMES), f"packages are {sorted(paths)}")
files, dates, versions = {}, {}, set()
for name, path in sorted(paths.items()):
    fields = read_fields(path)
    versions.add(fields["Version"])
    check(fields["Architecture"] == NAMES[name], f"{name} is for {fields['Architecture']}")
    check(path.name == f"{name}_{fields['Version']}_{fields['Architecture']}.deb", f"{name} is in {path.name}")
    for field in ("Maintainer", "Section", "Installed-Size", "Description"):
        check(fields.get(field), f"{name} has no {field}")
    check(all(len(line) < 80 for line in fields["Description"].splitlines()), f"{name} has a description of long lines")
    check_files(name, path)
    for document in ("copyright", "changelog.gz", "changelog.Debian.gz", f"{name}.spdx.json"):
        check(f"./usr/share/doc/{name}/{document}" in files, f"{name} has no {document}")
    for other, version in re.findall(r"(veeline-[a-z]+)(?: \(([^)]*)\))?", fields.get("Depends", "")):
        check(version == f"= {fields['Version']}", f"{name} depends on {other} ({version})")
    print(f"{name}: {' '.join(relations(fields))}")
    pathlib.Path("unpacked").mkdir(exist_ok=True)
    run("dpkg-deb", "--extract", path, f"unpacked/{name}")
    run("dpkg-deb", "--control", path, f"unpacked/{name}/DEBIAN")

released = re.search(rf"project\(veeline VERSION (\S+)", (project / "CMakeLists.txt").read_text(encoding="utf-8"))[1]
heading = re.search(rf"^## {re.escape(released)}.*$", (project / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[0]
later = r"~\d{14}" if "not yet released" in heading else ""
check(len(versions) == 1 and re.fullmatch(re.escape(released) + later + "-1", *versions), f"the version is {versions}, of {released}")
# Every program has a page.
for file in files:
    program = re.fullmatch(r"\./usr/bin/(.*)", file)
    check(not program or f"./usr/share/man/man1/{program[1]}.1.gz" in files, f"{file} has no manual page")
print(f"{len(files)} files")
