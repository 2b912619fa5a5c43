#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a device demands of machine code (SASS), which an assembler could get wrong though PTX is right.

Each kernel is read as a disassembler lists it:
- a shuffle's clamp is 31 (up: 0), and its segment the warp; a warp synchronises as a whole;
- no access is misaligned, as far as what is known of addresses decides that, and two accesses with one base (a uniform register
  included, whose value is mostly not known) do not contradict each other;
- accesses of shared memory at constant addresses are within it;
- no barrier is in a branch that depends on the number of the thread;
- there is no memory of a stack, and registers and shared memory of a block are not more than the chip has.

With --chip, PTX on standard input is assembled and disassembled; without, standard input is a listing, in which a line
`kernel NAME threads N shared N pointers N,...` begins each kernel.
"""

import argparse
import bisect
import collections
import json
import re
import struct
import subprocess
import sys
import tempfile

import sass_code
import sass_values

MOST_REGISTERS, REGISTER_UNIT = 65536, 8  # Of a block; of a thread.
# Of a block, static and dynamic together: what every chip has from sm_80 on, those among them that get PTX.
MOST_SHARED = 99 << 10
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}
# Where parameters begin in the bank of constants.
FIRST_PARAMETER = {"sm_80": 0x160, "sm_90": 0x210, "sm_100": 0x380}
STACK, SHARED = ("LDL", "STL"), ("LDS", "STS", "ATOMS", "LDSM")
ACCESSES = ("LD", "ST", "LDG", "STG", "ATOM", "ATOMG", "RED", "REDG") + SHARED

Kernel = collections.namedtuple("Kernel", "name chip threads shared dynamic pointers listing",
                                defaults=("", "", 1024, None, 0, (), ""))


class Rules:
    def __init__(self):
        self.errors = []
        self.counts = {"kernels": 0, "shuffles": 0, "barriers": 0, "accesses": 0, "known addresses": 0}

    def error(self, text):
        error = f"{self.kernel.name}: {text}"
        if error not in self.errors:
            self.errors.append(error)

    def check(self, kernel):
        self.kernel = kernel
        self.counts["kernels"] += 1
        instructions = sass_code.parse(kernel.listing)
        if not instructions:
            return self.error("expected instructions, found none")
        code = sass_code.Code(instructions)
        self.resources(instructions)
        states = sass_values.states_before(code, frozenset(kernel.pointers))
        ends = {}
        for index, state in sorted(states.items()):
            ends[index] = self.block(code.blocks[index].instructions, sass_values.State(state, state.pointers))
        self.barriers(code, ends)

    def resources(self, instructions):
        numbers = [int(number) for instruction in instructions for number in re.findall(r"\bR(\d+)", instruction.text)]
        registers = max(numbers, default=0) + 1
        registers = -registers // REGISTER_UNIT * -REGISTER_UNIT
        if registers * self.kernel.threads > MOST_REGISTERS:
            self.error(f"expected at most {MOST_REGISTERS} registers, found {self.kernel.threads} threads of {registers}")
        shared = (self.kernel.shared or 0) + (self.kernel.dynamic or 0)
        if shared > MOST_SHARED:
            self.error(f"expected at most {MOST_SHARED} bytes of shared memory, found {shared}")

    def block(self, instructions, state):
        """Checks instructions that run one after the other. Returns the state before the last one."""
        versions, residues = collections.Counter(), {}
        for instruction in instructions[:-1]:
            self.instruction(instruction, state, versions, residues)
            state.execute(instruction)
            versions.update(sass_values.written(instruction))
        self.instruction(instructions[-1], state, versions, residues)
        return state

    def instruction(self, instruction, state, versions, residues):
        if instruction.is_never:
            return
        if instruction.name == "SHFL":
            self.shuffle(instruction)
        elif instruction.name == "WARPSYNC" and re.fullmatch("0x[0-9a-f]+", (instruction.operands or [""])[0]):
            if instruction.operands[0] != "0xffffffff":
                self.error(f"expected all lanes of a warp, found {instruction.text}")
        elif instruction.name in STACK:
            self.error(f"expected no memory of a stack, found {instruction.text}")
        elif instruction.name in ("BAR", "BARRIER"):
            self.counts["barriers"] += 1
            if instruction.guard and state.get(instruction.guard, sass_values.UNKNOWN).of_thread:
                self.error(f"expected a barrier of all threads, found a predicate: {instruction.text}")
        elif instruction.name == "LDGSTS":
            self.accesses(instruction, ("shared", "global"), state, versions, residues)
        elif instruction.name in ACCESSES:
            space = "shared" if instruction.name in SHARED else "global"
            self.accesses(instruction, (space,), state, versions, residues)

    def shuffle(self, instruction):
        self.counts["shuffles"] += 1
        clamp = instruction.operands[-1]
        expected = ["RZ", "0x0"] if "UP" in instruction.parts else ["0x1f"]
        # One in a register is not known here.
        if re.fullmatch("0x[0-9a-f]+|RZ", clamp) and clamp not in expected:
            self.error(f"expected clamp {expected[-1]} of a shuffle, found {clamp}: {instruction.text}")

    def accesses(self, instruction, spaces, state, versions, residues):
        width = 16 if instruction.name == "LDSM" else max([WIDTHS.get(part, 0) for part in instruction.parts] + [0]) or 4
        # `desc[UR4]` says how, not where.
        addresses = re.findall(r"\[([^\[\]]*)\]", re.sub(r"desc\[\w+\]|c\[\w+\]\[\w+\]", "", instruction.text))
        for space, address in zip(spaces, addresses):
            self.counts["accesses"] += 1
            self.access(instruction, space, width, parse_address(address), state)
            self.compare(instruction, width, parse_address(address), versions, residues)

    def access(self, instruction, space, width, address, state):
        terms, offset = address
        sum_of_terms = sass_values.constant(offset)
        for name, scale in terms:
            sum_of_terms = sass_values.add(sum_of_terms, sass_values.multiply(state.value(name), sass_values.constant(scale)))
        low = sum_of_terms.known & width - 1
        self.counts["known addresses"] += low == width - 1
        if sum_of_terms.bits & width - 1:
            self.error(f"expected a multiple of {width}, found one and {sum_of_terms.bits & width - 1}: {instruction.text}")
        most = self.kernel.shared
        most = None if most is None or self.kernel.dynamic is None else most + self.kernel.dynamic
        if space == "shared" and not terms and most is not None and not 0 <= offset <= most - width:
            self.error(f"expected {most} bytes of shared memory, found {instruction.text}")

    def compare(self, instruction, width, address, versions, residues):
        """Two accesses with one base have to agree what is missing to a multiple of the narrower one's width."""
        terms, offset = address
        guard = (instruction.negated, instruction.guard, versions[instruction.guard])
        base = (guard, tuple((name, scale, versions[name]) for name, scale in terms))
        for other in (16, 8, 4, 2):
            if terms and other <= width:
                before, text = residues.setdefault((base, other), (offset % other, instruction.text))
                if before != offset % other:
                    self.error(f"expected offsets that differ by a multiple of {other}, found {text} and {instruction.text}")

    def barriers(self, code, ends):
        if not code.is_whole:
            return
        for index, block in enumerate(code.blocks):
            if index not in ends or not any(instruction.name in ("BAR", "BARRIER") for instruction in block.instructions):
                continue
            for other in sorted(code.deciding(index) & ends.keys()):
                last = code.blocks[other].instructions[-1]
                names = [last.guard] if last.guard else sass_values.names_in(last.operands[0])
                if any(ends[other].get(name, sass_values.UNKNOWN).of_thread for name in names):
                    self.error(f"expected a barrier of all threads, found one behind a branch of some: {last.text}")


def parse_address(text):
    """The registers of an address, each with its factor, and the constant."""
    terms, offset = [], 0
    for term in text.replace("+-", "+~").split("+"):
        if number := re.fullmatch(r"(~?)0x([0-9a-f]+)", term.strip()):
            offset += int(number[2], 16) * (-1 if number[1] else 1)
        elif register := re.fullmatch(r"(U?R\d+)(?:\.64|\.U32|\.reuse)*(?:\.X(\d+))?(?:\.64|\.U32|\.reuse)*", term.strip()):
            terms.append((register[1], int(register[2] or 1)))
    return tuple(terms), offset


def check(kernels):
    rules = Rules()
    for kernel in kernels:
        rules.check(kernel)
    if not rules.counts["kernels"]:
        rules.errors.append("there is no kernel")
    return rules


def read_listing(text):
    """The kernels of a listing by hand."""
    for part in re.split(r"^kernel ", text, flags=re.MULTILINE)[1:]:
        head, _, listing = part.partition("\n")
        name, *words = head.split()
        fields = dict(zip(words[::2], words[1::2]))
        pointers = [int(place, 16) for place in fields.pop("pointers", "").split(",") if place]
        chip = fields.pop("chip", "")
        yield Kernel(name, chip, pointers=pointers, listing=listing,
                     **{field: int(number) for field, number in fields.items()})


class Sections:
    """The sections of an object file of 64 bits."""

    def __init__(self, data):
        begin, = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        headers = [struct.unpack_from("<IIQQQQII", data, begin + index * size) for index in range(count)]
        self.data, self.headers = data, headers
        self.names = [self._text(headers[names], header[0]) for header in headers]

    def _text(self, table, offset):
        begin = table[4] + offset
        return self.data[begin:self.data.index(b"\0", begin)].decode()

    def find(self, name):
        """The bytes of a section, none for memory that has only a size; and the size."""
        if name not in self.names:
            return b"", 0
        _, _, _, _, begin, size, *_ = self.headers[self.names.index(name)]
        return self.data[begin:begin + size], size


def known_chips(disassembler):
    """The chips whose code a disassembler reads."""
    text = subprocess.run([disassembler, "--help"], stdout=subprocess.PIPE, text=True).stdout
    return {f"sm_{number}" for number in re.findall(r"'SM(\d+)'", text)}


def assemble(ptx, chip, assembler):
    """The assembler's object file."""
    with tempfile.TemporaryDirectory() as directory:
        source, result = f"{directory}/kernels.ptx", f"{directory}/kernels.cubin"
        with open(source, "w") as file:
            file.write(ptx)
        run = subprocess.run([assembler, "-arch", chip, source, "-o", result], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0:
            sys.exit(f"{chip}: {run.stdout}")
        with open(result, "rb") as file:
            return file.read()


def disassemble(codes, chip, disassembler):
    """The listing of each code. All are one file of instructions, since the disassembler takes longer to start than to list; such a
    file it also reads from assemblers that are newer."""
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"".join(codes))
        file.flush()
        result = subprocess.run([disassembler, "-c", "-b", chip.upper().replace("_", ""), file.name], stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0 or "error" in result.stdout:
        sys.exit(f"{chip}: {result.stdout}")  # Such as an instruction that it does not know.
    lines = [(int(found[1], 16), line) for line in result.stdout.splitlines() if (found := re.match(r"\s*/\*([0-9a-f]+)\*/", line))]
    addresses, begin = [address for address, _ in lines], 0
    for code in codes:
        end = begin + len(code)
        yield "\n".join(line for _, line in lines[bisect.bisect_left(addresses, begin):bisect.bisect_left(addresses, end)])
        begin = end


def find_pointers(ptx, chip):
    """For each kernel where its buffers' addresses are among the constants."""
    places = {}
    for name, parameters in re.findall(r"\.entry (\w+)\((.*?)\)", ptx, re.DOTALL):
        place, places[name] = FIRST_PARAMETER.get(chip), []
        for bits, pointer in re.findall(r"\.param \.[a-z](\d+)( \.ptr)?", parameters):
            size = int(bits) // 8
            place = place and -place // size * -size
            if place and pointer:
                places[name].append(place)
            place = place and place + size
    return places


def kernels_of(ptx, chip, code, disassembler, dynamic):
    """The kernels of PTX, and their machine code out of the object file `code`. `dynamic` has the dynamic shared memory of kernels
    where it is known."""
    sections = Sections(code)
    threads = dict(re.findall(r"\.entry (\w+)\((?:[^{]*?)\.(?:maxntid|reqntid) (\d+)", ptx))
    pointers = find_pointers(ptx, chip)
    names = [name.removeprefix(".text.") for name in sections.names if name.startswith(".text.")]
    listings = disassemble([sections.find(".text." + name)[0] for name in names], chip, disassembler)
    for name, listing in zip(names, listings):
        yield Kernel(name, chip, int(threads.get(name, 1024)), sections.find(".nv.shared." + name)[1],
                     dynamic.get(name) if dynamic else None, pointers.get(name, ()), listing)


def read_dynamic(path):
    """The dynamic shared memory of each kernel, as `veeline inspect --kernels --json` says it."""
    with open(path) as file:
        return {kernel["name"]: kernel["shared_bytes"] for kernel in json.load(file)["kernels"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chip", help="the chip to assemble PTX for")
    parser.add_argument("--assembler", default="ptxas")
    parser.add_argument("--disassembler", default="nvdisasm")
    parser.add_argument("--inspection", help="what `veeline inspect --kernels --json` has written")
    options = parser.parse_args()
    if options.chip:
        dynamic = read_dynamic(options.inspection) if options.inspection else None
        ptx = sys.stdin.read()
        kernels = kernels_of(ptx, options.chip, assemble(ptx, options.chip, options.assembler), options.disassembler, dynamic)
    else:
        kernels = read_listing(sys.stdin.read())
    result = check(kernels)
    print("\n".join(result.errors) or ", ".join(f"{count} {what}" for what, count in result.counts.items()))
    sys.exit(1 if result.errors else 0)


if __name__ == "__main__":
    main()
