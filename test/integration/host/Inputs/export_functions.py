# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes functions of MLIR op by op: what exports.py makes models of."""

import math
import random
from typing import NamedTuple


class Value(NamedTuple):
    name: str
    shape: tuple
    element: str = "f32"

    @property
    def type(self):
        return f"tensor<{''.join(f'{n}x' for n in self.shape)}{self.element}>"

    def typed(self):
        return f"{self.name} : {self.type}"


def tensor(shape, element="f32"):
    return Value("", tuple(shape), element).type


def pairs(values):
    return ", ".join(v.name for v in values) + " : " + ", ".join(v.type for v in values)


def dims(count):
    return [f"d{i}" for i in range(count)]


def affine(names, results):
    return f"affine_map<({', '.join(names)}) -> ({', '.join(results)})>"


class Function:
    """A function that is being written: `emit` adds an op, the other members the ops that exporters write."""

    def __init__(self):
        self.lines, self.arguments, self.count = [], [], 0
        self.random = random.Random(0)

    def argument(self, shape, element="f32", attributes=""):
        value = Value(f"%arg{len(self.arguments)}", tuple(shape), element)
        self.arguments.append(f"{value.name}: {value.type}{' {' + attributes + '}' if attributes else ''}")
        return value

    def emit(self, text, shape, element="f32"):
        value = Value(f"%v{self.count}", tuple(shape), element)
        self.count += 1
        self.lines.append(f"    {value.name} = {text}")
        return value

    def number(self, value, element="f32"):
        text = value if isinstance(value, str) or element[0] == "i" else f"{value:e}"
        return self.emit(f"arith.constant {text} : {element}", (), element)

    def constant(self, text, shape, element="f32"):
        return self.emit(f"arith.constant dense<{text}> : {tensor(shape, element)}", shape, element)

    def weight(self, *shape):
        """What training replaces: the file has left it out."""
        return self.emit(f"arith.constant dense_resource<__elided__> : {tensor(shape)}", shape)

    def values(self, *shape, low=-1.0, high=1.0):
        """Numbers of its own."""

        def write(extents):
            if not extents:
                return f"{self.random.uniform(low, high):.5f}"
            return "[" + ", ".join(write(extents[1:]) for _ in range(extents[0])) + "]"

        return self.constant(write(shape), shape)

    def empty(self, shape, element="f32"):
        return self.emit(f"tensor.empty() : {tensor(shape, element)}", shape, element)

    def filled(self, shape, value=0.0, element="f32"):
        number, empty = self.number(value, element), self.empty(shape, element)
        return self.emit(f"linalg.fill ins({number.name} : {element}) outs({empty.typed()}) -> {empty.type}", shape, element)

    def named(self, op, operands, shape, attributes="", start=None):
        start = start or self.filled(shape)
        return self.emit(f"{op} {attributes}ins({pairs(operands)}) outs({start.typed()}) -> {start.type}", shape, start.element)

    def generic(self, operands, maps, starts, kinds, body):
        """`body` names its operands %a, %b... and what it starts from %o, %p; results follow `yield`."""
        names = dims(len(kinds))
        texts = ", ".join(affine(names, results) for results in maps)
        block = [f"%{'abcdefgh'[i]}: {v.element}" for i, v in enumerate(operands)]
        block += [f"%{'op'[i]}: {v.element}" for i, v in enumerate(starts)]
        inputs = f"ins({pairs(operands)}) " if operands else ""
        types = ", ".join(v.type for v in starts)
        results = [f"%v{self.count + i}" for i in range(len(starts))]
        self.count += len(starts)
        left = ", ".join(results)
        self.lines.append(f"    {left} = linalg.generic {{indexing_maps = [{texts}], iterator_types = "
                          f"[{', '.join(chr(34) + k + chr(34) for k in kinds)}]}} {inputs}outs({pairs(starts)}) {{")
        self.lines.append(f"    ^bb0({', '.join(block)}):")
        self.lines += [f"      {line}" for line in body[:-1]]
        yielded = body[-1].split(", ")
        self.lines.append(f"      linalg.yield {', '.join(yielded)} : {', '.join(v.element for v in starts)}")
        self.lines.append(f"    }} -> {types if len(starts) == 1 else '(' + types + ')'}")
        values = [Value(name, v.shape, v.element) for name, v in zip(results, starts)]
        return values[0] if len(values) == 1 else values

    def each(self, operands, body, element="f32", shape=None):
        """Elementwise, operands broadcast as numpy has it: an extent of 1 is read at 0."""
        shape = shape or broadcast(*(v.shape for v in operands))
        names = dims(len(shape))
        maps = []
        for value in operands:
            last = names[len(shape) - len(value.shape):]
            wide = shape[len(shape) - len(value.shape):]
            maps.append(["0" if n == 1 != w else d for d, n, w in zip(last, value.shape, wide)])
        return self.generic(operands, maps + [names], [self.empty(shape, element)], ["parallel"] * len(shape), body)

    def binary(self, op, a, b):
        return self.each([a, b], [f"%r = {op} %a, %b : {a.element}", "%r"])

    def unary(self, op, a):
        return self.each([a], [f"%r = {op} %a : {a.element}", "%r"])

    def add(self, a, b):
        return self.binary("arith.addf", a, b)

    def scale(self, a, factor):
        number = self.number(factor)
        return self.each([a], [f"%r = arith.mulf %a, {number.name} : f32", "%r"])

    def reduce(self, a, dimensions, op="arith.addf", start=0.0, keep=True):
        names = dims(len(a.shape))
        shape = tuple(1 if i in dimensions else n for i, n in enumerate(a.shape) if keep or i not in dimensions)
        result = ["0" if i in dimensions else d for i, d in enumerate(names) if keep or i not in dimensions]
        kinds = ["reduction" if i in dimensions else "parallel" for i in range(len(a.shape))]
        return self.generic([a], [names, result], [self.filled(shape, start)], kinds, [f"%r = {op} %a, %o : f32", "%r"])

    def mean(self, a, dimensions, keep=True):
        return self.scale(self.reduce(a, dimensions, keep=keep), 1 / math.prod(a.shape[i] for i in dimensions))

    def matmul(self, a, b):
        op = "linalg.matmul" if len(a.shape) == 2 else "linalg.batch_matmul"
        return self.named(op, [a, b], a.shape[:-1] + b.shape[-1:])

    def transpose(self, a, permutation):
        shape = [a.shape[i] for i in permutation]
        empty = self.empty(shape, a.element)
        return self.emit(f"linalg.transpose ins({a.typed()}) outs({empty.typed()}) permutation = {list(permutation)}", shape, a.element)

    def reshape(self, a, shape):
        """By collapsing to one dimension where neither a collapse nor an expansion will do."""
        groups = group(a.shape, shape)
        if groups:
            return self.emit(f"tensor.collapse_shape {a.name} {groups} : {a.type} into {tensor(shape, a.element)}", shape, a.element)
        groups = group(shape, a.shape)
        if not groups:
            flat = (math.prod(shape),)
            return self.reshape(self.reshape(a, flat), shape)
        return self.emit(f"tensor.expand_shape {a.name} {groups} output_shape {list(shape)} : {a.type} into {tensor(shape, a.element)}",
                         shape, a.element)

    def slice(self, a, dimension, low, high):
        offsets = [low if i == dimension else 0 for i in range(len(a.shape))]
        shape = [high - low if i == dimension else n for i, n in enumerate(a.shape)]
        strides = [1] * len(a.shape)
        return self.emit(f"tensor.extract_slice {a.name}{offsets} {shape} {strides} : {a.type} to {tensor(shape, a.element)}", shape)

    def pad(self, a, low, high, value=0.0):
        number = self.number(value)
        shape = [n + x + y for n, x, y in zip(a.shape, low, high)]
        block = ", ".join(f"%i{i}: index" for i in range(len(shape)))
        return self.emit(f"tensor.pad {a.name} low{list(low)} high{list(high)} {{\n    ^bb0({block}):\n"
                         f"      tensor.yield {number.name} : f32\n    }} : {a.type} to {tensor(shape)}", shape)

    def text(self, results, name="main", other=""):
        types = ", ".join(v.type for v in results)
        head = f"  func.func @{name}({', '.join(self.arguments)}) -> {types if len(results) == 1 else '(' + types + ')'} {{"
        tail = f"    return {pairs(results)}\n  }}"
        return "\n".join(["module {", head, *self.lines, tail]) + f"\n{other}}}\n"


def broadcast(*shapes):
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    return tuple(max(extents) for extents in zip(*padded))


def group(wide, narrow):
    """How the extents of `wide` make those of `narrow`, or nothing."""
    groups, place = [], 0
    for i, extent in enumerate(narrow):
        members, product = [], 1
        while place < len(wide) and (product != extent or not members or (i + 1 == len(narrow) and wide[place] == 1)):
            product *= wide[place]
            members.append(place)
            place += 1
            if product > extent:
                return None
        if product != extent or not members:
            return None
        groups.append(members)
    return groups if place == len(wide) and len(narrow) < len(wide) else None
