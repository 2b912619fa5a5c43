# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs what bench/gpu/build has made: BUNDLE OTHERS ARGUMENTS...

The kernels of the stand-in are the bundle's twins; but with OTHERS, which is a
file to write, they are kernels of the same names that do nothing.
"""

import json
import os
import pathlib
import subprocess
import sys


def make_idle(bundle, library):
    """A library of kernels that do nothing, in the place of all of the bundle."""
    counts = {}
    for artifact in sorted((bundle / "artifacts").glob("check*.vee")):
        output = subprocess.run(["veeline", "inspect", artifact, "--json"], check=True, stdout=subprocess.PIPE).stdout
        counts |= {kernel["name"]: kernel["num_arguments"] for kernel in json.loads(output)["device"]["kernels"]}
    text = ""
    for name, count in counts.items():
        text += f"void {name}(const void *const *p, const unsigned *g, const unsigned *b) {{}}\n"
        text += f'const long {name}_info[] __asm__("{name}.info") = {{0, 0, 0, 0, {count}}};\n'
    source = library.with_suffix(".c")
    source.write_text(text, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)


def main():
    bundle, others, *arguments = sys.argv[1:]
    bundle = pathlib.Path(bundle).resolve()
    libraries = sorted((bundle / "twins").glob("*.so"))
    if others:
        libraries = [pathlib.Path(others).resolve()]
        make_idle(bundle, libraries[0])
    kernels = ":".join(map(str, libraries))
    sys.exit(subprocess.run([bundle / "run", *arguments], env={**os.environ, "VEELINE_STANDIN_KERNELS": kernels}).returncode)


if __name__ == "__main__":
    main()
