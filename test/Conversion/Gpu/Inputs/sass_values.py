# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is known of the registers of a kernel of SASS, whatever it is run with: their low bits, and whether they follow from the
number of the thread. What is not modelled is not known, so that nothing is said of it."""

import functools
import re
import struct
from typing import NamedTuple

BITS = 12
MASK = (1 << BITS) - 1

# Instructions that write one register; of others not listed anywhere four are taken to change.
SINGLE = set("""BMSK BREV F2FP F2I FADD FCHK FFMA FLO FMNMX FMUL FSEL FSWZADD HADD2 HFMA2 HMNMX2 HMUL2 I2FP IABS IMNMX ISCADD LEA LOP3 MOV
MUFU P2R POPC PRMT R2UR S2R SEL SHF SHFL SGXT UBREV UFLO ULEA ULOP3 UMOV UP2UR UPOPC UPRMT USEL USGXT USHF VIADD VIMNMX VOTE VOTEU
IADD3 UIADD3 S2UR FRND REDUX""".split())
DOUBLE = set("DADD DMUL DFMA".split())
NOTHING = set("""BAR BMOV BRA BRX BREAK BSSY BSYNC CALL DEPBAR ENDCOLLECTIVE ERRBAR EXIT LDGDEPBAR LDGSTS MEMBAR NOP RED REDG RET ST STG STL
STS WARPSYNC YIELD CCTL NANOSLEEP BPT""".split())
LOADS = set("LD LDG LDS LDL LDC ULDC LDSM ATOM ATOMG ATOMS SHFL VOTE VOTEU REDUX MATCH".split())
EXCHANGES = set("SHFL VOTE VOTEU REDUX MATCH".split())  # Within a warp.
PREDICATES = [f"P{number}" for number in range(7)]
OF_THREADS = re.compile(r"SR_(TID|LANEID|[A-Z]+MASK)")


class Value(NamedTuple):
    known: int = 0  # A mask of bits.
    bits: int = 0
    of_thread: bool = False

    def trailing(self):
        """How many of the lowest bits are known."""
        unknown = ~self.known & MASK
        return (unknown & -unknown).bit_length() - 1 if unknown else BITS

    def zeros(self):
        """How many of the lowest bits are known to be zero."""
        other = (~self.known | self.bits) & MASK
        return (other & -other).bit_length() - 1 if other else BITS


UNKNOWN = Value()


def low(count, bits):
    known = (1 << max(0, min(count, BITS))) - 1
    return Value(known, bits & known)


def constant(number):
    return Value(MASK, number & MASK)


def join(first, second):
    known = first.known & second.known & ~(first.bits ^ second.bits)
    return Value(known, first.bits & known, first.of_thread or second.of_thread)


def add(first, second):
    return low(min(first.trailing(), second.trailing()), first.bits + second.bits)


def multiply(first, second):
    count = min(first.trailing() + second.zeros(), second.trailing() + first.zeros())
    return low(count, first.bits * second.bits)


def negate(value):
    return low(value.trailing(), -value.bits)


def invert(value):
    return Value(value.known, ~value.bits & value.known)


def look_up(table, values):
    """A function of three bits, for each bit: known if what is not known makes no difference."""
    known = bits = 0
    for bit in range(BITS):
        choices = [[value.bits >> bit & 1] if value.known >> bit & 1 else [0, 1] for value in values]
        results = {table >> (4 * a + 2 * b + c) & 1 for a in choices[0] for b in choices[1] for c in choices[2]}
        if len(results) == 1:
            known |= 1 << bit
            bits |= results.pop() << bit
    return Value(known, bits)


@functools.lru_cache(maxsize=1 << 16)
def is_predicate(operand):
    return re.fullmatch(r"U?P(\d+|T)", operand) is not None


@functools.lru_cache(maxsize=1 << 16)
def names_in(text):
    """The registers and predicates that a text names."""
    return re.findall(r"\bU?[RP]\d+\b", text)


@functools.lru_cache(maxsize=1 << 16)
def divide(instruction):
    """The operands that an instruction writes, and those that it reads."""
    if instruction.name in NOTHING:
        return [], instruction.operands
    operands = instruction.operands
    if instruction.name in ("VOTE", "VOTEU"):
        return operands[:-1], operands[-1:]
    count = 0
    while count < min(2, len(operands)) and is_predicate(operands[count]):
        count += 1
    if "SETP" in instruction.name or instruction.name in ("PLOP3", "UPLOP3", "FCHK"):
        return operands[:count], operands[count:]
    count += 1
    # Carries follow the result.
    while count < len(operands) and is_predicate(operands[count]) and instruction.name in ("IADD3", "UIADD3", "LEA", "ULEA", "IMAD"):
        count += 1
    return operands[:count], operands[count:]


@functools.lru_cache(maxsize=1 << 16)
def written(instruction):
    """The registers and predicates that an instruction writes, or more."""
    if instruction.name == "R2P":
        return PREDICATES
    names = []
    for operand in divide(instruction)[0]:
        if register := re.fullmatch(r"(U?R)(\d+)", operand):
            names += [f"{register[1]}{int(register[2]) + index}" for index in range(count_written(instruction))]
        elif re.fullmatch(r"U?P\d", operand):
            names.append(operand)
    return names


def count_written(instruction):
    parts, name = instruction.parts, instruction.name
    if name in ("F2F", "I2F"):
        return 2 if "F64" in parts[1:2] else 1
    if name in LOADS and name not in ("SHFL", "VOTE", "VOTEU", "REDUX"):
        return 4 if "128" in parts or name == "LDSM" else 2 if "64" in parts else 1
    if name in ("IMAD", "UIMAD"):
        return 2 if "WIDE" in parts else 1
    if name == "CS2R":
        return 1 if "32" in parts else 2
    if name == "F2I":
        return 2
    return 1 if name in SINGLE else 2 if name in DOUBLE else 4


class State(dict):
    """Values by register and predicate. What is missing is not known."""

    def __init__(self, other=(), pointers=frozenset()):
        super().__init__(other)
        self.pointers = pointers

    def value(self, operand):
        """What is known of an operand."""
        sign, name = re.fullmatch(r"([-~]?)(.*?)(?:\.H0_H0|\.64|\.U32)?", operand).groups()
        if name in ("RZ", "URZ", "SRZ"):
            found = constant(0)
        elif re.fullmatch(r"0x[0-9a-f]+", name):
            found = constant(int(name, 16))
        elif place := re.fullmatch(r"c\[0x0\]\[0x([0-9a-f]+)\]", name):
            # Every buffer of a kernel starts at a multiple of 16 bytes.
            found = low(4, 0) if int(place[1], 16) in self.pointers else UNKNOWN
        else:
            found = self.get(name, UNKNOWN)
        return negate(found) if sign == "-" else invert(found) if sign == "~" else found

    def joined(self, other):
        both = {name: join(self.get(name, UNKNOWN), other.get(name, UNKNOWN)) for name in {*self, *other}}
        return State({name: value for name, value in both.items() if value != UNKNOWN}, self.pointers)

    def execute(self, instruction):
        results = dict.fromkeys(written(instruction), UNKNOWN)
        registers = [name for name in results if "R" in name]
        if registers:
            results[registers[0]] = self.compute(instruction)
            if instruction.name == "CS2R" and instruction.operands[-1] == "SRZ":
                results = dict.fromkeys(results, constant(0))
        of_thread = self.is_of_thread(instruction)
        for name, value in results.items():
            value = value._replace(of_thread=of_thread)
            if instruction.guard:
                value = join(value, self.get(name, UNKNOWN))
                value = value._replace(of_thread=value.of_thread or self.get(instruction.guard.lstrip("!"), UNKNOWN).of_thread)
            self[name] = value

    def is_of_thread(self, instruction):
        """True if a result follows from the thread's number, or from that of its warp, as a number that is loaded does not."""
        if instruction.name in LOADS and instruction.name not in EXCHANGES:
            return False
        if instruction.name in ("S2R", "S2UR", "CS2R"):
            return OF_THREADS.match(instruction.operands[-1]) is not None
        sources = [name for operand in divide(instruction)[1] for name in (PREDICATES if operand == "PR" else names_in(operand))]
        return any(self.get(name, UNKNOWN).of_thread for name in sources)

    def compute(self, instruction):
        """The low bits of the (first) register that an instruction writes."""
        parts, name = instruction.parts, instruction.name.removeprefix("U")
        operands = [operand for operand in divide(instruction)[1] if not is_predicate(operand.lstrip("!"))]
        values = [self.value(operand) for operand in operands]
        if name in ("MOV", "LDC") and len(values) == 1:
            return values[0]
        if name == "HFMA2" and operands[:2] == ["-RZ", "RZ"] and len(values) == 4:
            return half(operands[3])  # How assemblers write a constant where units for integers are busy.
        if name == "IMAD" and len(values) >= 3 and not {"HI", "X"} & set(parts):
            return add(multiply(values[0], values[1]), values[2])
        if name == "IADD3" and "X" not in parts and len(values) == 3:
            return add(add(values[0], values[1]), values[2])
        if name == "LEA" and not {"HI", "SX32"} & set(parts) and len(values) == 3:
            return add(shift(values[0], values[2]), values[1])
        if name == "SHF" and parts[1:3] == ["L", "U32"] and len(values) == 3:
            return shift(values[0], values[1])
        if name == "LOP3" and len(values) == 4 and re.fullmatch(r"0x[0-9a-f]+", operands[3]):
            return look_up(int(operands[3], 16), values[:3])
        if name == "SEL" and len(values) == 2:
            return join(values[0], values[1])
        return UNKNOWN


def half(text):
    """The bits of a number in f16."""
    try:
        return constant(int.from_bytes(struct.pack("<e", float(text)), "little"))
    except (OverflowError, ValueError):
        return UNKNOWN


def shift(value, by):
    if by.known != MASK or by.bits >= 64:
        return UNKNOWN
    return multiply(value, constant(1 << by.bits) if by.bits < BITS else constant(0))


def changed_by(code, target):
    """The registers and predicates that the subroutine that begins with block `target` may write."""
    names, seen, stack = set(), {target}, [target]
    while stack:
        block = code.blocks[stack.pop()]
        for instruction in block.instructions:
            names.update(written(instruction))
        for successor in block.successors + block.calls:
            if successor is not None and successor not in seen:
                seen.add(successor)
                stack.append(successor)
    return names


def states_before(code, pointers):
    """The state before each block that is reached. Nothing is known where a subroutine begins, nor where a jump may go anywhere."""
    if not code.is_whole:
        return {index: State(pointers=pointers) for index in range(len(code.blocks))}
    states, work, changed = {0: State(pointers=pointers)}, [0], {}
    while work:
        index = work.pop()
        block, state = code.blocks[index], State(states[index], pointers)
        for instruction in block.instructions:
            state.execute(instruction)
        for target in block.calls:
            if target not in changed:
                changed[target] = changed_by(code, target)
            state = State({name: value for name, value in state.items() if name not in changed[target]}, pointers)
        nothing = State(pointers=pointers)
        for successor, reaching in [(successor, state) for successor in block.successors] + [(target, nothing) for target in block.calls]:
            if successor is None:
                continue
            merged = states[successor].joined(reaching) if successor in states else State(reaching, pointers)
            if successor not in states or merged != states[successor]:
                states[successor] = merged
                work.append(successor)
    return states
