# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs what bench/gpu/build has made: [--idle FILE] [--endless ARTIFACT] [--interrupt-at TEXT] BUNDLE ARGUMENTS...

The stand-in runs the PTX of kernels; but with --idle they are kernels of the same
names that do nothing, in a library that is written. With --endless, the first kernel
of this artifact never ends. With --interrupt-at it is interrupted once it says TEXT, and has to leave no process.
"""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys


def count_arguments(artifact):
    """The kernels of an artifact, each with the number of its arguments."""
    output = subprocess.run(["veeline", "inspect", artifact, "--json"], check=True, stdout=subprocess.PIPE).stdout
    return {kernel["name"]: kernel["num_arguments"] for kernel in json.loads(output)["device"]["kernels"]}


def make_idle(bundle, library):
    """A library of kernels that do nothing, in the place of all of the bundle."""
    counts = {}
    for artifact in sorted((bundle / "artifacts").glob("check*.vee")):
        counts |= count_arguments(artifact)
    text = ""
    for name, count in counts.items():
        text += f"void {name}(const void *const *p, const unsigned *g, const unsigned *b) {{}}\n"
        text += f'const long {name}_info[] __asm__("{name}.info") = {{0, 0, 0, 0, {count}}};\n'
    source = library.with_suffix(".c")
    source.write_text(text, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)


def run_interrupted(command, environment, text):
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    for line in process.stderr:
        sys.stderr.write(line)
        if text in line:
            process.send_signal(signal.SIGINT)
    code = process.wait()
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if str(pathlib.Path(command[0]).parent / "bin").encode() in (folder / "cmdline").read_bytes():
                sys.exit(f"process {folder.name} is left")
        except OSError:
            pass  # It has ended meanwhile, or is of others.
    return code


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--idle", type=pathlib.Path)
    parser.add_argument("--endless")
    parser.add_argument("--interrupt-at")
    parser.add_argument("bundle", type=pathlib.Path)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    bundle = options.bundle.resolve()
    environment = dict(os.environ)
    if options.idle:
        make_idle(bundle, options.idle)
        environment["VEELINE_STANDIN_KERNELS"] = str(options.idle.resolve())
    if options.endless:
        environment["VEELINE_STANDIN_ENDLESS"] = f"{min(count_arguments(bundle / 'artifacts' / options.endless))}:1"
    command = [bundle / "run", *options.arguments]
    if options.interrupt_at:
        sys.exit(run_interrupted(command, environment, options.interrupt_at))
    sys.exit(subprocess.run(command, env=environment).returncode)


if __name__ == "__main__":
    main()
