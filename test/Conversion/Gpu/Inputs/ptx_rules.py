#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a device demands of PTX on standard input, and an emulation of the gpu dialect does not see.

Each shuffle is of the whole warp, and nothing that threads do together has a predicate
(a branch around it is not seen). Each buffer
of shared memory starts at a multiple of 16 bytes, by which accesses are joined; dynamic
shared memory is declared, and is no variable, and other buffers of a kernel have 48 KiB
at most. Accesses by name are at multiples of their widths.
"""

import re
import subprocess
import sys
import tempfile

import sass_rules

WIDTHS = {"8": 1, "16": 2, "32": 4, "64": 8}
MOST_STATIC_BYTES = 48 * 1024
CHIPS = ("sm_80", "sm_90", "sm_100")
MOST_REGISTERS, REGISTER_UNIT = 65536, 8  # Of a block; of a thread.


class Rules:
    def __init__(self):
        self.errors = []
        self.counts = {"kernels": 0, "shuffles": 0, "shared buffers": 0, "wide accesses": 0}
        self.kernel, self.static_bytes = "no kernel", 0

    def error(self, text):
        self.errors.append(f"{self.kernel}: {text}")

    def begin(self, kernel):
        self.counts["kernels"] += 1
        self.kernel, self.static_bytes = kernel, 0

    def shuffle(self, line):
        self.counts["shuffles"] += 1
        # The last operand is the mask of lanes, the one before has the clamp and the mask of segments.
        *_, clamp, lanes = re.split(r",\s*", line.rstrip(";"))
        if (clamp, lanes) != ("31", "-1"):
            self.error(f"expected clamp 31 and lanes -1, found {clamp} and {lanes}: {line}")

    def buffer(self, line, is_extern, alignment, bits, name, count):
        self.counts["shared buffers"] += 1
        if int(alignment or 1) % 16:
            self.error(f"expected shared buffer '{name}' at a multiple of 16, found {alignment}")
        if "dynamic" in name and not is_extern:
            self.error(f"expected dynamic shared memory '{name}' to be extern: {line}")
        if not is_extern:
            before, self.static_bytes = self.static_bytes, self.static_bytes + WIDTHS[bits] * int(count or 1)
            if before <= MOST_STATIC_BYTES < self.static_bytes:
                self.error(f"expected at most {MOST_STATIC_BYTES} bytes of buffers, found {self.static_bytes} or more")

    def access(self, line, lanes, bits, base, offset):
        width = int(lanes or 1) * WIDTHS[bits]
        self.counts["wide accesses"] += width == 16
        if not base.startswith("%") and int(offset or 0) % width:
            self.error(f"expected an offset that is a multiple of {width}, found {offset}: {line}")

    def read(self, line):
        line = line.strip()
        if entry := re.search(r"\.entry (\w+)\(", line):
            self.begin(entry[1])
        elif line.startswith("shfl."):
            self.shuffle(line)
        elif re.match(r"@\S+\s+(bar|barrier|shfl|vote|mma|ldmatrix)\.", line):
            self.error(f"expected an instruction of all threads, found a predicate: {line}")
        elif found := re.match(
            r"(\.extern )?(?:\.visible )?\.shared (?:\.align (\d+) )?\.[a-z]+(\d+) ([\w$]+)(?:\[(\d*)\])?;", line
        ):
            self.buffer(line, *found.groups())
        elif found := re.match(
            r"(?:@\S+ )?(?:ld|st)\.shared\.(?:v(\d)\.)?b(\d+)\s.*\[([\w$%]+)(?:\+(-?\d+))?\]", line
        ):
            self.access(line, *found.groups())


def check(text):
    """Reads PTX. The result has `errors`, and `counts` of what was looked at."""
    rules = Rules()
    for line in text.splitlines():
        rules.read(line)
    if not rules.counts["kernels"]:
        rules.errors.append("there is no kernel")
    return rules


def assemble(text, ptxas, chips=CHIPS, disassembler=None, dynamic=None):
    """Assembles PTX, as a driver would. Returns what is wrong: a kernel that is refused, spills, or whose blocks have no room, and
    what a disassembler's listing shows, for chips that it knows. `dynamic` is as for sass_rules.kernels_of."""
    errors = []
    listed = sass_rules.known_chips(disassembler) if disassembler else ()
    threads = dict(re.findall(r"\.entry (\w+)\((?:[^{]*?)\.(?:maxntid|reqntid) (\d+)", text))
    for chip in chips:
        with tempfile.NamedTemporaryFile("w", suffix=".ptx") as file, tempfile.NamedTemporaryFile("rb") as code:
            file.write(text)
            file.flush()
            result = subprocess.run([ptxas, "-v", "-arch", chip, file.name, "-o", code.name], stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True)
            if result.returncode != 0:
                errors.append(f"{chip}: {result.stdout}")
            elif chip in listed:
                with open(code.name, "rb") as file:
                    kernels = sass_rules.kernels_of(text, chip, file.read(), disassembler, dynamic)
                errors += [f"{chip}: {error}" for error in sass_rules.check(kernels).errors]
        for name, log in re.findall(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry|\Z)", result.stdout, re.DOTALL):
            registers = -int(re.search(r"Used (\d+) registers", log)[1]) // REGISTER_UNIT * -REGISTER_UNIT
            if registers * int(threads.get(name, 1024)) > MOST_REGISTERS:
                errors.append(f"{chip}: {name}: {threads.get(name, 1024)} threads of {registers} registers")
            if not re.search(r"\b0 bytes spill stores, 0 bytes spill loads", log):
                errors.append(f"{chip}: {name} spills")
    return errors


if __name__ == "__main__":
    result = check(sys.stdin.read())
    print("\n".join(result.errors) or ", ".join(f"{count} {what}" for what, count in result.counts.items()))
    sys.exit(1 if result.errors else 0)
