# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a folder that is a build to scripts of bench whose numbers are not looked at.

Usage: quick_build.py BUILD FOLDER [PROGRAM ...]

Its veeline is that of the build, and compiles with the options that VEELINE_TEST_QUICK has (lit.cfg.py). Other programs
are there where they are named.
"""

import pathlib
import sys


def main():
    build, folder = map(pathlib.Path, sys.argv[1:3])
    programs = folder / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[3:]:
        (programs / name).unlink(missing_ok=True)
        (programs / name).symlink_to(build / "bin" / name)
    veeline = programs / "veeline"
    veeline.write_text(f"""#!/bin/sh
test "$1" != compile || {{ shift; set -- compile $VEELINE_TEST_QUICK "$@"; }}
exec {build}/bin/veeline "$@"
""", encoding="utf-8")
    veeline.chmod(0o755)


main()
