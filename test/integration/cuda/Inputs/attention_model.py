# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model of layers of attention in bf16 or f16, on parameters of f32.

Usage: attention_model.py TYPE LAYERS

Heads of queries share those of keys two by two; every other layer looks back
alone, and the others have a mask that is added.
"""

import sys

SAMPLES, LENGTH, WIDTH, HEADS, KEY_HEADS, DEPTH = 2, 12, 16, 4, 2, 8


def shape(*sizes, kind):
    return f"tensor<{'x'.join(map(str, sizes))}x{kind}>"


class Model:
    def __init__(self, kind):
        self.kind = kind
        self.lines = []
        self.arguments = []
        self.count = 0

    def add(self, text):
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def parameter(self, name, *sizes):
        self.arguments.append(f'%{name}: {shape(*sizes, kind="f32")} '
                              f'{{pipe.param = #pipe.param<"{name}", init = uniform(-0.25, 0.25)>}}')
        return self.add(f"arith.truncf %{name} : {shape(*sizes, kind='f32')} to {shape(*sizes, kind=self.kind)}")

    def empty(self, *sizes, kind=None):
        kind = kind or self.kind
        return self.add(f"tensor.empty() : {shape(*sizes, kind=kind)}")

    def matmul(self, a, b, m, k, n):
        result = shape(m, n, kind=self.kind)
        zeros = self.add(f"linalg.fill ins(%zero : {self.kind}) outs({self.empty(m, n)} : {result}) -> {result}")
        return self.add(f"linalg.matmul ins({a}, {b} : {shape(m, k, kind=self.kind)}, {shape(k, n, kind=self.kind)}) "
                        f"outs({zeros} : {result}) -> {result}")

    def split(self, x, heads):
        """[samples, heads, length, depth] of rows."""
        rows = shape(SAMPLES * LENGTH, heads * DEPTH, kind=self.kind)
        sizes = SAMPLES, LENGTH, heads, DEPTH
        apart = self.add(f"tensor.expand_shape {x} [[0, 1], [2, 3]] output_shape [{', '.join(map(str, sizes))}] : "
                         f"{rows} into {shape(*sizes, kind=self.kind)}")
        return self.transpose(apart, sizes)

    def transpose(self, x, sizes):
        samples, first, second, depth = sizes
        to = shape(samples, second, first, depth, kind=self.kind)
        return self.add(f"linalg.transpose ins({x} : {shape(*sizes, kind=self.kind)}) "
                        f"outs({self.empty(samples, second, first, depth)} : {to}) permutation = [0, 2, 1, 3]")

    def layer(self, x, number):
        rows, kind = SAMPLES * LENGTH, self.kind
        query = self.split(self.matmul(x, self.parameter(f"q{number}", WIDTH, HEADS * DEPTH), rows, WIDTH, HEADS * DEPTH), HEADS)
        key, value = (self.split(self.matmul(x, self.parameter(f"{name}{number}", WIDTH, KEY_HEADS * DEPTH), rows, WIDTH,
                                             KEY_HEADS * DEPTH), KEY_HEADS) for name in "kv")
        of_query, of_key = shape(SAMPLES, HEADS, LENGTH, DEPTH, kind=kind), shape(SAMPLES, KEY_HEADS, LENGTH, DEPTH, kind=kind)
        of_lse = shape(SAMPLES, HEADS, LENGTH, kind="f32")
        mask = "" if number % 2 == 0 else f"mask(%mask : {shape(LENGTH, LENGTH, kind='f32')}) dims [2, 3]"
        self.count += 1
        result = f"%t{self.count}"
        init, lse = self.empty(SAMPLES, HEADS, LENGTH, DEPTH), self.empty(SAMPLES, HEADS, LENGTH, kind="f32")
        self.lines.append(f"  {result}, %lse{number} = pipe.attention scale(0.35) {'causal' if not mask else ''} "
                          f"ins({query}, {key}, {value} : {of_query}, {of_key}, {of_key}) {mask} "
                          f"outs({init}, {lse} : {of_query}, {of_lse}) -> {of_query}, {of_lse}")
        together = self.transpose(result, (SAMPLES, HEADS, LENGTH, DEPTH))
        joined = self.add(f"tensor.collapse_shape {together} [[0, 1], [2, 3]] : "
                          f"{shape(SAMPLES, LENGTH, HEADS, DEPTH, kind=kind)} into {shape(rows, HEADS * DEPTH, kind=kind)}")
        output = self.matmul(joined, self.parameter(f"o{number}", HEADS * DEPTH, WIDTH), rows, HEADS * DEPTH, WIDTH)
        of_rows = shape(rows, WIDTH, kind=kind)
        return self.add(f"arith.addf {x}, {output} : {of_rows}")

    def text(self, layers):
        rows = SAMPLES * LENGTH
        x = self.add(f"arith.truncf %x : {shape(rows, WIDTH, kind='f32')} to {shape(rows, WIDTH, kind=self.kind)}")
        for number in range(layers):
            x = self.layer(x, number)
        wide = shape(rows, WIDTH, kind="f32")
        result = self.add(f"arith.extf {x} : {shape(rows, WIDTH, kind=self.kind)} to {wide}")
        arguments = ",\n    ".join([f'%x: {wide} {{pipe.batch = "x"}}', f'%target: {wide} {{pipe.batch = "target"}}', *self.arguments])
        body = "\n".join(self.lines)
        mask = ", ".join(f"[{', '.join(str((i * 7 + j * 3) % 5 / 4) for j in range(LENGTH))}]" for i in range(LENGTH))
        return f"""
func.func @net({arguments}) -> tensor<f32> {{
  %zero = arith.constant 0.0 : {self.kind}
  %mask = arith.constant dense<[{mask}]> : {shape(LENGTH, LENGTH, kind="f32")}
{body}
  %start = arith.constant dense<0.0> : tensor<f32>
  %share = arith.constant {1 / (rows * WIDTH)} : f32
  %loss = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]}} ins({result}, %target : {wide}, {wide}) outs(%start : tensor<f32>) {{
  ^bb0(%a: f32, %b: f32, %o: f32):
    %d = arith.subf %a, %b : f32
    %q = arith.mulf %d, %d : f32
    %p = arith.mulf %q, %share : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }} -> tensor<f32>
  return %loss : tensor<f32>
}}"""


if __name__ == "__main__":
    print(Model(sys.argv[1]).text(int(sys.argv[2])))
