# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes functions that are random graphs of differentiable ops on small f64 tensors."""

import argparse
import random

SIZE = 4
TYPES = {"m": f"tensor<{SIZE}x{SIZE}xf64>", "v": f"tensor<{SIZE}xf64>"}
MAPS = """\
#id = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
"""


class Function:
    """A function under construction; `values` holds (name, kind) of all there is."""

    def __init__(self, name, rng):
        self.name, self.rng, self.lines, self.values, self.count = name, rng, [], [], 0

    def fresh(self):
        self.count += 1
        return f"%t{self.count}"

    def pick(self, kind):
        # Late values are likelier, so that graphs get deep.
        names = [n for n, k in self.values if k == kind]
        return names[max(self.rng.randrange(len(names)), self.rng.randrange(len(names)))]

    def line(self, text, kind=None):
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        if kind:
            self.values.append((name, kind))
        return name

    def empty(self, kind):
        return self.line(f"tensor.empty() : {TYPES[kind]}")

    def fill(self, kind, constant):
        empty = self.empty(kind)
        return self.line(f"linalg.fill ins({constant} : f64) outs({empty} : {TYPES[kind]}) -> {TYPES[kind]}")

    def generic(self, inputs, kind, body, iterators="parallel, parallel", init=None, outmap="#ij"):
        """inputs: (value, kind, map); body: lines in which %a, %b, ... are the inputs and %o the output."""
        init = init or self.empty(kind)
        names = [f"%{c}" for c in "abcdefg"[:len(inputs)]]
        maps = ", ".join([m for _, _, m in inputs] + [outmap])
        iters = ", ".join(f'"{i.strip()}"' for i in iterators.split(","))
        ins = ""
        if inputs:
            ins = (f"ins({', '.join(v for v, _, _ in inputs)} : "
                   f"{', '.join(TYPES[k] for _, k, _ in inputs)}) ")
        args = ", ".join(f"{n}: f64" for n in [*names, "%o"])
        text = (f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iters}]}} {ins}"
                f"outs({init} : {TYPES[kind]}) {{\n  ^bb0({args}):\n    "
                + "\n    ".join(body) + f"\n  }} -> {TYPES[kind]}")
        return self.line(text, kind)

    # One method for each kind of step.

    def elementwise(self):
        kind = self.rng.choice("mmv")
        x, y = self.pick(kind), self.pick(kind)
        op = self.rng.choice(["addf", "subf", "mulf", "maximumf", "minimumf"])
        self.line(f"arith.{op} {x}, {y} : {TYPES[kind]}", kind)

    def unary(self):
        kind = self.rng.choice("mmv")
        op = self.rng.choice(["tanh", "sin", "cos", "erf", "atan"])
        self.line(f"math.{op} {self.pick(kind)} : {TYPES[kind]}", kind)

    def quotient(self):
        self.generic([(self.pick("m"), "m", "#ij"), (self.pick("v"), "v", self.rng.choice(["#i", "#j"]))], "m",
                     ["%q = arith.mulf %b, %b : f64", "%r = arith.addf %q, %one : f64",
                      "%s = arith.divf %a, %r : f64", "linalg.yield %s : f64"])

    def matmul(self):
        lhs = self.rng.choice(["(d0, d2)", "(d2, d0)"])
        rhs = self.rng.choice(["(d2, d1)", "(d1, d2)"])
        init = self.rng.choice([lambda: self.fill("m", "%zero"), lambda: self.pick("m")])()
        t, d = TYPES["m"], "affine_map<(d0, d1, d2) -> "
        product = self.line(
            f"linalg.matmul indexing_maps = [{d}{lhs}>, {d}{rhs}>, {d}(d0, d1)>] "
            f"ins({self.pick('m')}, {self.pick('m')} : {t}, {t}) outs({init} : {t}) -> {t}")
        self.line(f"math.tanh {product} : {t}", "m")

    def broadcast(self):
        op = self.rng.choice(["addf", "mulf"])
        self.generic([(self.pick("m"), "m", self.rng.choice(["#ij", "#ji"])),
                      (self.pick("v"), "v", self.rng.choice(["#i", "#j"]))], "m",
                     [f"%r = arith.{op} %a, %b : f64", "linalg.yield %r : f64"])

    def reduce(self):
        outmap, iterators = self.rng.choice([("#i", "parallel, reduction"), ("#j", "reduction, parallel")])
        op, start = self.rng.choice([("addf", "%zero"), ("addf", None), ("maximumf", "%ninf"), ("minimumf", "%inf")])
        init = self.fill("v", start) if start else self.pick("v")
        self.generic([(self.pick("m"), "m", "#ij")], "v",
                     ["%h = arith.mulf %a, %half : f64", f"%r = arith.{op} %h, %o : f64", "linalg.yield %r : f64"],
                     iterators, init, outmap)

    def softmax(self):
        x = self.pick("m")
        if self.rng.random() < 0.5:
            self.line(f"linalg.softmax dimension(1) ins({x} : {TYPES['m']}) outs({self.empty('m')} : "
                      f"{TYPES['m']}) -> {TYPES['m']}", "m")
            return
        top = self.generic([(x, "m", "#ij")], "v", ["%r = arith.maximumf %a, %o : f64", "linalg.yield %r : f64"],
                           "parallel, reduction", self.fill("v", "%ninf"), "#i")
        exp = self.generic([(x, "m", "#ij"), (top, "v", "#i")], "m",
                           ["%d = arith.subf %a, %b : f64", "%r = math.exp %d : f64", "linalg.yield %r : f64"])
        total = self.generic([(exp, "m", "#ij")], "v", ["%r = arith.addf %a, %o : f64", "linalg.yield %r : f64"],
                             "parallel, reduction", self.fill("v", "%zero"), "#i")
        if self.rng.random() < 0.7:  # Otherwise the maximum may be used by what follows.
            self.values = [v for v in self.values if v[0] not in (top, exp, total)]
        self.generic([(exp, "m", "#ij"), (total, "v", "#i")], "m",
                     ["%r = arith.divf %a, %b : f64", "linalg.yield %r : f64"])

    def mask(self):
        self.generic([(self.pick("m"), "m", "#ij"), (self.pick("m"), "m", "#ji")], "m",
                     ["%p = linalg.index 0 : index", "%s = linalg.index 1 : index",
                      "%c = arith.cmpi sle, %s, %p : index", "%r = arith.select %c, %a, %b : f64",
                      "linalg.yield %r : f64"])

    def gather(self):
        table = self.pick("m")
        self.generic([(self.pick("m"), "m", "#ij")], "m",
                     ["%p = linalg.index 0 : index", "%s = linalg.index 1 : index",
                      "%z = arith.remui %p, %two : index", f"%v = tensor.extract {table}[%z, %s] : {TYPES['m']}",
                      "%r = arith.mulf %v, %a : f64", "linalg.yield %r : f64"])

    def slices(self):
        t, half = TYPES["m"], f"tensor<{SIZE}x{SIZE // 2}xf64>"
        x = self.pick("m")
        low = self.line(f"tensor.extract_slice {x}[0, 0] [{SIZE}, {SIZE // 2}] [1, 1] : {t} to {half}")
        high = self.line(f"tensor.extract_slice {x}[0, {self.rng.choice([1, 2])}] [{SIZE}, {SIZE // 2}] [1, 1] : {t} to {half}")
        if self.rng.random() < 0.5:
            self.line(f"tensor.concat dim(1) {high}, {low} : ({half}, {half}) -> {t}", "m")
        else:
            self.line(f"tensor.insert_slice {high} into {self.pick('m')}[0, 0] [{SIZE}, {SIZE // 2}] [1, 2] : {half} into {t}", "m")

    def shapes(self):
        t, flat = TYPES["m"], f"tensor<{SIZE * SIZE}xf64>"
        x = self.line(f"tensor.collapse_shape {self.pick('m')} [[0, 1]] : {t} into {flat}")
        y = self.line(f"math.sin {x} : {flat}")
        self.line(f"tensor.expand_shape {y} [[0, 1]] output_shape [{SIZE}, {SIZE}] : {flat} into {t}", "m")

    def scalar(self):
        s = self.line(f"tensor.extract {self.pick('v')}[%two] : {TYPES['v']}")
        r = self.line(f"math.tanh {s} : f64")
        self.generic([(self.pick("m"), "m", "#ij")], "m", [f"%r = arith.mulf %a, {r} : f64", "linalg.yield %r : f64"])

    def text(self, steps):
        arguments = [("%x", "m"), ("%y", "m"), ("%u", "v"), ("%w", "v")]
        self.values = list(arguments)
        menu = [self.elementwise, self.unary, self.quotient, self.matmul, self.broadcast, self.reduce, self.softmax,
                self.mask, self.gather, self.slices, self.shapes, self.scalar]
        for _ in range(steps):
            self.rng.choice(menu)()
        results = [self.values[-1], *self.rng.sample(self.values, 2)]
        constants = ["%zero = arith.constant 0.0 : f64", "%one = arith.constant 1.0 : f64",
                     "%half = arith.constant 0.5 : f64", "%ninf = arith.constant 0xFFF0000000000000 : f64",
                     "%inf = arith.constant 0x7FF0000000000000 : f64", "%two = arith.constant 2 : index"]
        head = ", ".join(f"{n}: {TYPES[k]}" for n, k in arguments)
        types = ", ".join(TYPES[k] for _, k in results)
        names = ", ".join(n for n, _ in results)
        body = "\n  ".join([*constants, *self.lines])
        return f"func.func @{self.name}({head}) -> ({types}) {{\n  {body}\n  return {names} : {types}\n}}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--steps", type=int, default=12)
    options = parser.parse_args()
    print(MAPS)
    for number in range(options.count):
        seed = options.seed * 1_000_003 + number
        print(Function(f"f{number}", random.Random(seed)).text(options.steps))


if __name__ == "__main__":
    main()
