#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Turns what one component installs into what its Debian package has, for stage.cmake.

Adds the licence, changes, a list of what it is made of, and files for dpkg; compresses manual pages; gives every file a mode and a time
that say nothing of who builds. Prints which libraries' packages it depends on, as `DEPENDS=...` and `RECOMMENDS=...`.
"""

import argparse
import email.utils
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
DATE = int(os.environ["SOURCE_DATE_EPOCH"])
# Loaded on demand, for those who have it.
OPTIONAL = {"libveeline_mpi.so"}


def write_compressed(path, data):
    with open(path, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(data)


def move_files(root):
    """To where Debian has them."""
    shutil.rmtree(root / "usr/share/doc/veeline", ignore_errors=True)
    zsh = root / "usr/share/zsh"
    if zsh.exists():
        (zsh / "site-functions").rename(zsh / "vendor-completions")
    for page in root.glob("usr/share/man/man*/*"):
        write_compressed(page.with_name(page.name + ".gz"), page.read_bytes())
        page.unlink()


def add_documentation(root, arguments):
    folder = root / "usr/share/doc" / arguments.package
    folder.mkdir(parents=True)
    shutil.copyfile(HERE / "copyright", folder / "copyright")
    write_compressed(folder / "changelog.gz", (SOURCE / "CHANGELOG.md").read_bytes())
    entry = (f"veeline ({arguments.version}-{arguments.release}) bookworm; urgency=medium\n\n"
             "  * Packages made by the project itself; changelog.gz says what is new.\n\n"
             f" -- {arguments.maintainer}  {email.utils.formatdate(DATE)}\n")
    write_compressed(folder / "changelog.Debian.gz", entry.encode())
    overrides = HERE / f"{arguments.package}.lintian-overrides"
    if overrides.exists():
        target = root / "usr/share/lintian/overrides" / arguments.package
        target.parent.mkdir(parents=True)
        shutil.copyfile(overrides, target)


def add_sbom(root, arguments, depends):
    text = subprocess.run(
        [sys.executable, SOURCE / "scripts/sbom", "--package", arguments.package, "--version", f"{arguments.version}-{arguments.release}",
         "--date", str(DATE), "--depends", depends, "--build", arguments.build, root], stdout=subprocess.PIPE, check=True).stdout
    (root / "usr/share/doc" / arguments.package / f"{arguments.package}.spdx.json").write_bytes(text)


def strip_archives(root):
    """As Debian's packages are; cpack strips the rest."""
    for path in root.glob("usr/lib/*.a"):
        subprocess.run(["strip", "--strip-debug", "--remove-section=.comment", "--enable-deterministic-archives", path], check=True)


def binaries(root):
    for path in sorted(root.rglob("*")):
        if not path.is_symlink() and path.is_file():
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def output(*command, **options):
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, **options).stdout


def shlibs_behind_links(paths):
    """dpkg-shlibdeps does not follow links that another package than the library's has, as llvm-22-dev has one to libLLVM."""
    folders = {folder for path in paths for found in re.findall(r"RUNPATH.*\[(.*)\]", output("readelf", "-dW", path)) for folder in found.split(":")}
    libraries = {os.path.realpath(link) for folder in folders for link in pathlib.Path(folder).glob("*.so.*")
                 if os.path.dirname(os.path.realpath(link)) != folder}
    owners = {output("dpkg-query", "--search", library).partition(": ")[0] for library in libraries}
    return "".join(output("dpkg-query", "--control-show", owner, "shlibs") for owner in sorted(owners))


def find_dependencies(root):
    """The fields that dpkg-shlibdeps makes of the libraries that executables and shared objects are linked to."""
    paths = list(binaries(root))
    if not paths:
        return {}
    options = [option for path in paths for option in ("-dRecommends" if path.name in OPTIONAL else "-dDepends", f"-e{path}")]
    with tempfile.TemporaryDirectory() as folder:
        # It wants to be called where a source package is built, for files where its packages are.
        (root / "DEBIAN").mkdir()
        debian = pathlib.Path(folder) / "debian"
        debian.mkdir()
        (debian / "control").write_text("Source: veeline\n\nPackage: veeline\nArchitecture: any\n", encoding="utf-8")
        (debian / "shlibs.local").write_text(shlibs_behind_links(paths), encoding="utf-8")
        text = output("dpkg-shlibdeps", "-O", "--warnings=0", *options, cwd=folder)
    (root / "DEBIAN").rmdir()
    return {field.upper(): value for field, value in re.findall(r"^shlibs:(\w+)=(.*)$", text, re.MULTILINE)}


def add_control_files(root, arguments):
    arguments.control.mkdir(parents=True)
    libraries = [match for path in root.glob("usr/lib/*.so.*") if (match := re.fullmatch(r"(.*)\.so\.(.*)", path.name))]
    if libraries:
        lines = [f"{match[1]} {match[2]} {arguments.package} (= {arguments.version}-{arguments.release})\n" for match in libraries]
        (arguments.control / "shlibs").write_text("".join(sorted(lines)), encoding="utf-8")
        (arguments.control / "triggers").write_text("activate-noawait ldconfig\n", encoding="utf-8")
    for script in ("postinst", "prerm"):
        path = HERE / f"{arguments.package}.{script}"
        if path.exists():
            shutil.copyfile(path, arguments.control / script)


def normalise(folder):
    for path in [folder, *folder.rglob("*")]:
        if not path.is_symlink():
            is_executable = path.is_dir() or path.name in ("postinst", "prerm") or path.parent.name == "bin"
            path.chmod(0o755 if is_executable else 0o644)
        os.utime(path, (DATE, DATE), follow_symlinks=False)


def main():
    parser = argparse.ArgumentParser()
    for option in ("package", "version", "release", "depends", "maintainer", "build"):
        parser.add_argument("--" + option, required=True)
    parser.add_argument("--control", required=True, type=pathlib.Path)
    parser.add_argument("root", type=pathlib.Path)
    arguments = parser.parse_args()
    root = arguments.root
    move_files(root)
    strip_archives(root)
    found = find_dependencies(root)
    add_documentation(root, arguments)
    add_sbom(root, arguments, ", ".join(filter(None, [found.get("DEPENDS"), arguments.depends])))
    add_control_files(root, arguments)
    for folder in (root, arguments.control):
        normalise(folder)
    for field, value in found.items():
        print(f"{field}={value}")


main()
