# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel of SASS as a disassembler lists it: its instructions, their blocks, and what decides whether a block is reached."""

import re

LINE = re.compile(r"\s*/\*([0-9a-f]+)\*/\s+(?:@(!?)(U?P[0-9T]+) )?\s*([A-Z][\w.]*)\s*([^;]*?)\s*;")


class Instruction:
    def __init__(self, address, negated, guard, opcode, operands, text):
        self.address, self.negated, self.opcode, self.text = address, negated, opcode, text
        self.parts = opcode.split(".")
        # A predicate that is always true is none; one that never is belongs to no code.
        self.guard = None if guard in ("PT", "UPT") and not negated else guard
        self.operands = [operand.strip().replace(".reuse", "") for operand in operands.split(",")] if operands else []

    @property
    def name(self):
        return self.parts[0]

    @property
    def is_never(self):
        return self.guard in ("PT", "UPT")

    @property
    def is_conditional(self):
        """A branch that names its predicate as an operand, or asks whether a warp is whole, is one, too."""
        return bool(self.guard) or (self.name == "BRA" and len(self.operands) > 1)

    @property
    def is_call(self):
        """Of a subroutine, or of what all lanes of a warp do together."""
        return self.name == "CALL" or self.opcode == "WARPSYNC.COLLECTIVE"

    def target(self):
        found = re.search(r"0x([0-9a-f]+)\)?$", self.operands[-1]) if self.operands else None
        return int(found[1], 16) if found else None


def parse(listing):
    """The instructions of a listing; lines of other forms are none."""
    found = ((LINE.match(line), line) for line in listing.splitlines())
    return [Instruction(int(match[1], 16), *match.groups()[1:], line.strip()) for match, line in found if match]


class Block:
    def __init__(self, instructions):
        self.instructions = instructions
        # Blocks that control goes to, of which `calls` begin subroutines. None is the end of the kernel.
        self.successors, self.calls = [], []


class Code:
    """The blocks of a kernel in the order of their addresses; the first is the entry."""

    def __init__(self, instructions):
        self.is_whole = True
        self.blocks = self._divide(instructions)
        self.indices = {block.instructions[0].address: index for index, block in enumerate(self.blocks)}
        for index, block in enumerate(self.blocks):
            self._connect(index, block)
        for block in self.blocks:
            self._connect_call(block)
        self.loops = self._find_loops()
        self.post_dominators = self._find_post_dominators()

    @staticmethod
    def _divide(instructions):
        begins = {instruction.target() for instruction in instructions if instruction.is_call or instruction.name == "BRA"}
        blocks, current = [], []
        for instruction in instructions:
            if instruction.address in begins and current:
                blocks.append(Block(current))
                current = []
            current.append(instruction)
            if instruction.name in ("BRA", "BRX", "BRXU", "JMP", "JMX", "RET", "EXIT") or instruction.is_call:
                blocks.append(Block(current))
                current = []
        return blocks + ([Block(current)] if current else [])

    def _connect(self, index, block):
        last = block.instructions[-1]
        next_block = index + 1 if index + 1 < len(self.blocks) else None
        target = self.indices.get(last.target())
        if last.name in ("BRX", "BRXU", "JMP", "JMX"):
            self.is_whole = False  # Where it goes is in a table.
        elif last.name == "BRA":
            block.successors = [target] + ([next_block] if last.is_conditional else [])
        elif last.name in ("EXIT", "RET"):
            block.successors = [None] + ([next_block] if last.is_conditional else [])
        else:
            block.successors = [next_block]
            if last.is_call and target is not None:
                block.calls = [target]

    def _connect_call(self, block):
        """A call of what never returns is a branch, with which assemblers leave loops."""
        for target in block.calls:
            reached = self._reached_from(target) | {target}
            returns = any(self.blocks[index].instructions[-1].name == "RET" for index in reached)
            if block.instructions[-1].name == "CALL" and not returns:
                block.successors = [target] + (block.successors if block.instructions[-1].guard else [])
                block.calls = []

    def _reached_from(self, index):
        seen, stack = set(), [index]
        while stack:
            for successor in self.blocks[stack.pop()].successors:
                if successor is not None and successor not in seen:
                    seen.add(successor)
                    stack.append(successor)
        return seen

    def _find_post_dominators(self):
        """For each block the set of those that every way from it to the end passes, as a mask of bits."""
        everything = (1 << len(self.blocks)) - 1
        masks = [everything] * len(self.blocks)
        changed = True
        while changed:
            changed = False
            for index in reversed(range(len(self.blocks))):
                mask = everything
                for successor in self.blocks[index].successors:
                    mask &= 0 if successor is None else masks[successor]
                mask |= 1 << index
                changed |= mask != masks[index]
                masks[index] = mask
        return masks

    def _find_loops(self):
        """The blocks of each loop: those from which a branch back to its first is reached without passing that."""
        predecessors = [[] for _ in self.blocks]
        for index, block in enumerate(self.blocks):
            for successor in block.successors:
                if successor is not None:
                    predecessors[successor].append(index)
        loops = {}
        for index, block in enumerate(self.blocks):
            for first in block.successors:
                if first is not None and first <= index:
                    body, stack = loops.setdefault(first, {first}), [index]
                    while stack:
                        if (found := stack.pop()) not in body:
                            body.add(found)
                            stack += predecessors[found]
        return sorted(loops.values(), key=len)

    def deciding(self, index):
        """The blocks whose last branches decide, directly or through others, whether block `index` is reached, without the
        branches of loops: those may go the same way for all threads, though they compare what differs (from a thread's number to
        its number plus a multiple of the block)."""
        found, stack = set(), [index]
        while stack:
            wanted = stack.pop()
            for other, block in enumerate(self.blocks):
                if other in found or len(block.successors) < 2 or not self._decides(other, wanted):
                    continue
                found.add(other)
                stack.append(other)
        return {other for other in found if not self._is_of_loop(other)}

    def _decides(self, other, wanted):
        """True if one way out of block `other` always passes `wanted`, and another need not."""
        passes = [successor is not None and bool(self.post_dominators[successor] >> wanted & 1)
                  for successor in self.blocks[other].successors]
        return any(passes) and not all(passes)

    def _is_of_loop(self, index):
        """True if the branch of a block goes back, or leaves the innermost loop."""
        loop = next((loop for loop in self.loops if index in loop), None)
        successors = self.blocks[index].successors
        return loop is not None and any(successor is None or successor <= index or successor not in loop for successor in successors)
