# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes small models in the forms that exporters give them, as FILE.mlir in a directory.

Sizes are tiny and forms are what counts: how JAX, torch, TOSA converters and ONNX importers write
broadcasts, maxima, norms, gathers, masks, paddings, loops and weights.

Usage: exports.py DIRECTORY [NAME...]
"""

import math
import pathlib
import sys
from typing import Callable, NamedTuple

from export_functions import Function, Value, broadcast, dims, pairs, tensor


class Jax(Function):
    """StableHLO in linalg: broadcasts are ops, elementwise ops are maps, functions are called."""

    def spread(self, a, shape):
        if a.shape == tuple(shape):
            return a
        missing = list(range(len(shape) - len(a.shape)))
        ones = [i for i, n in enumerate(a.shape) if n == 1 != shape[len(missing) + i]]
        if ones:
            rest = [n for i, n in enumerate(a.shape) if i not in ones]
            missing += [len(missing) + i for i in ones]
            a = self.reshape(a, rest) if rest else self.emit(f"tensor.collapse_shape {a.name} [] : {a.type} into {tensor([])}", [])
        empty = self.empty(shape, a.element)
        return self.emit(f"linalg.broadcast ins({a.typed()}) outs({empty.typed()}) dimensions = {missing}", shape, a.element)

    def binary(self, op, a, b):
        shape = broadcast(a.shape, b.shape)
        operands = [self.spread(a, shape), self.spread(b, shape)]
        empty = self.empty(shape, a.element)
        return self.emit(f"linalg.map {{ {op} }} ins({pairs(operands)}) outs({empty.typed()})", shape, a.element)

    def unary(self, op, a):
        empty = self.empty(a.shape, a.element)
        return self.emit(f"linalg.map {{ {op} }} ins({a.typed()}) outs({empty.typed()})", a.shape, a.element)

    def scale(self, a, factor):
        return self.binary("arith.mulf", a, self.constant(f"{factor:e}", ()))

    def reduce(self, a, dimensions, op="arith.addf", start=0.0, keep=True):
        shape = [n for i, n in enumerate(a.shape) if i not in dimensions]
        filled = self.filled(shape, start)
        value = self.emit(f"linalg.reduce {{ {op} }} ins({a.typed()}) outs({filled.typed()}) dimensions = {list(dimensions)}", shape)
        return self.reshape(value, [1 if i in dimensions else n for i, n in enumerate(a.shape)]) if keep else value

    def call(self, name, a):
        return self.emit(f"call @{name}({a.name}) : ({a.type}) -> {a.type}", a.shape)


def private(name, shape, write):
    """A function that others call."""
    function = Jax()
    result = write(function, function.argument(shape))
    return function.text([result], name).split("\n", 1)[1].rsplit("}\n", 1)[0].replace("func.func @", "func.func private @")


def relu_of_jax(shape):
    return private("relu", shape, lambda f, x: f.binary("arith.maximumf", x, f.constant("0.0", ())))


def log_softmax(f, x):
    largest = f.reduce(x, [len(x.shape) - 1], "arith.maximumf", "0xFF800000")
    shifted = f.binary("arith.subf", x, largest)
    total = f.reduce(f.unary("math.exp", shifted), [len(x.shape) - 1])
    return f.binary("arith.subf", shifted, f.unary("math.log", total))


def softmax(f, x):
    largest = f.reduce(x, [len(x.shape) - 1], "arith.maximumf", "0xFF800000")
    powers = f.unary("math.exp", f.binary("arith.subf", x, largest))
    return f.binary("arith.divf", powers, f.reduce(powers, [len(x.shape) - 1]))


def jax_mlp():
    """Returns its loss, of one-hot targets; parameters come first, as of a dictionary."""
    f, widths, layers = Jax(), [12, 16, 16, 16, 5], []
    for i, (rows, columns) in enumerate(zip(widths, widths[1:])):
        layers.append([f.argument(shape, attributes=f'jax.arg_info = "params[\'dense{i}\'][\'{name}\']"')
                       for name, shape in (("bias", (columns,)), ("kernel", (rows, columns)))])
    h, targets = f.argument((4, 12)), f.argument((4, 5))
    for i, (bias, kernel) in enumerate(layers):
        h = f.add(f.matmul(h, kernel), f.reshape(bias, (1, bias.shape[0])))
        h = f.call("relu", h) if i + 1 < len(layers) else h
    each = f.reduce(f.binary("arith.mulf", targets, log_softmax(f, h)), [0, 1], keep=False)
    return f.text([f.scale(each, -1 / 4)], other=relu_of_jax((4, 16)))


def jax_convnet():
    """NHWC, "SAME" as paddings of their own, windows by reductions, logits as the result."""
    f, channels, size = Jax(), [2, 6, 6, 8], 8
    kernels = [(f.argument((3, 3, a, b)), f.argument((b,))) for a, b in zip(channels, channels[1:])]
    head, bias = f.argument((8, 4)), f.argument((4,))
    h, others = f.argument((2, size, size, 2)), []
    for i, (kernel, shift) in enumerate(kernels):
        padded = f.pad(h, [0, 1, 1, 0], [0, 1, 1, 0])
        h = f.named("linalg.conv_2d_nhwc_hwcf", [padded, kernel], (2, size, size, kernel.shape[3]),
                    "{dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ")
        h = f.binary("arith.maximumf", f.add(h, shift), f.constant("0.0", ()))
        if i < 2:
            size //= 2
            window = f.empty((2, 2))
            start = f.filled((2, size, size, h.shape[3]), "0xFF800000")
            h = f.named("linalg.pooling_nhwc_max", [h, window], start.shape,
                        "{dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ", start)
    h = f.mean(h, [1, 2], keep=False)
    return f.text([f.add(f.matmul(h, head), bias)])


def jax_scan():
    """A loop over time as `lax.scan` lowers it: a while of a counter, with slices and writes at it."""
    f, time, batch, width = Jax(), 5, 3, 6
    recurrent, inner, head = f.argument((width, width)), f.argument((4, width)), f.argument((width, 3))
    x = f.argument((time, batch, 4))
    state, zero, one, end = f.filled((batch, width)), f.number(0, "i32"), f.number(1, "i32"), f.number(time, "i32")
    n, t = state.type, "i32"
    body = Jax()
    body.count = 1000
    index = body.emit("arith.index_cast %i : i32 to index", (), "index")
    row = body.emit(f"tensor.extract_slice {x.name}[{index.name}, 0, 0] [1, {batch}, 4] [1, 1, 1] : {x.type} to {tensor((batch, 4))}", (batch, 4))
    held = Value("%h", (batch, width))
    total = body.add(body.matmul(held, recurrent), body.matmul(row, inner))
    new, following = body.unary("math.tanh", total), body.emit(f"arith.addi %i, {one.name} : i32", (), "i32")
    loop = [f"scf.while (%i = {zero.name}, %h = {state.name}) : ({t}, {n}) -> ({t}, {n}) {{",
            f"      %more = arith.cmpi slt, %i, {end.name} : i32",
            f"      scf.condition(%more) %i, %h : {t}, {n}", "    } do {", f"    ^bb0(%i: {t}, %h: {n}):", *body.lines,
            f"      scf.yield {following.name}, {new.name} : {t}, {n}", "    }"]
    f.lines.append("    %w:2 = " + "\n".join(loop))
    return f.text([f.matmul(Value("%w#1", (batch, width)), head)])


def linear(f, x, weight, bias=None):
    """Torch's: the weight is transposed where it is used, and leading dimensions are made one."""
    rows = x if len(x.shape) == 2 else f.reshape(x, (math.prod(x.shape[:-1]), x.shape[-1]))
    product = f.matmul(rows, f.transpose(weight, [1, 0]))
    product = product if len(x.shape) == 2 else f.reshape(product, x.shape[:-1] + weight.shape[:1])
    return f.add(product, bias) if bias else product


def lookup(f, table, indices, wraps=False):
    """A gather: rows of a table. ONNX counts negative indices from the end."""
    shape = indices.shape + table.shape[1:]
    names = dims(len(shape))
    body = ["%i = arith.index_cast %a : i64 to index", f"%j = linalg.index {len(shape) - 1} : index",
            f"%r = tensor.extract {table.name}[%i, %j] : {table.type}", "%r"]
    if wraps:
        rows, zero = f.number(table.shape[0], "i64"), f.number(0, "i64")
        body[0:1] = [f"%n = arith.cmpi slt, %a, {zero.name} : i64", f"%t = arith.addi %a, {rows.name} : i64",
                     "%s = arith.select %n, %t, %a : i64", "%i = arith.index_cast %s : i64 to index"]
    return f.generic([indices], [names[:-1], names], [f.empty(shape)], ["parallel"] * len(shape), body)


def relu_of_torch(f, x):
    zero = f.number(0.0)
    return f.each([x], [f"%c = arith.cmpf ugt, %a, {zero.name} : f32", f"%r = arith.select %c, %a, {zero.name} : f32", "%r"])


def layer_norm(f, x, scale, shift):
    last = [len(x.shape) - 1]
    centred = f.binary("arith.subf", x, f.mean(x, last))
    variance = f.mean(f.binary("arith.mulf", centred, centred), last)
    epsilon = f.number(1e-5, "f64")
    root = f.each([variance], [f"%w = arith.truncf {epsilon.name} : f64 to f32", "%s = arith.addf %a, %w : f32", "%r = math.rsqrt %s : f32", "%r"])
    return f.add(f.binary("arith.mulf", f.binary("arith.mulf", centred, root), scale), shift)


def softmax_of_torch(f, x):
    """Its maximum has an index beside it, which nobody uses."""
    names, shape = dims(len(x.shape)), x.shape[:-1] + (1,)
    starts = [f.filled(shape, "0xFF800000"), f.filled(shape, 0, "i64")]
    kinds = ["parallel"] * (len(names) - 1) + ["reduction"]
    last = names[:-1] + ["0"]
    largest, _ = f.generic([x], [names, last, last], starts, kinds,
                           [f"%i = linalg.index {len(names) - 1} : index", "%j = arith.index_cast %i : index to i64",
                            "%m = arith.maximumf %a, %o : f32", "%c = arith.cmpf ogt, %a, %o : f32",
                            "%k = arith.select %c, %j, %p : i64", "%m, %k"])
    powers = f.unary("math.exp", f.binary("arith.subf", x, largest))
    return f.binary("arith.divf", powers, f.reduce(powers, [len(names) - 1]))


def gelu_of_torch(f, x):
    half, root, cubic, one = (f.number(n) for n in (0.5, math.sqrt(2 / math.pi), 0.044715, 1.0))
    return f.each([x], ["%q = arith.mulf %a, %a : f32", "%u = arith.mulf %q, %a : f32", f"%c = arith.mulf %u, {cubic.name} : f32",
                        "%s = arith.addf %a, %c : f32", f"%t = arith.mulf %s, {root.name} : f32", "%h = math.tanh %t : f32",
                        f"%k = arith.addf %h, {one.name} : f32", f"%m = arith.mulf %a, {half.name} : f32", "%r = arith.mulf %m, %k : f32", "%r"])


def split_heads(f, x, heads):
    """To batch * heads x positions x width."""
    batch, positions, width = x.shape
    apart = f.transpose(f.reshape(x, (batch, positions, heads, width // heads)), [0, 2, 1, 3])
    return f.reshape(apart, (batch * heads, positions, width // heads))


def join_heads(f, x, batch):
    rows, positions, width = x.shape
    together = f.transpose(f.reshape(x, (batch, rows // batch, positions, width)), [0, 2, 1, 3])
    return f.reshape(together, (batch, positions, rows // batch * width))


def attend(f, query, key, value, mask=None):
    """Of heads; `mask` is what scores become: of scores, and of their shape."""
    scores = f.scale(f.matmul(query, f.transpose(key, [0, 2, 1])), 1 / math.sqrt(query.shape[2]))
    return f.matmul(softmax_of_torch(f, mask(scores) if mask else scores), value)


def causal(f, positions):
    """Where a constant table of truth values is false, there is minus infinity."""
    rows = ", ".join("[" + ", ".join("true" if j <= i else "false" for j in range(positions)) + "]" for i in range(positions))
    table, least = f.constant(f"[{rows}]", (positions, positions), "i1"), f.number("0xFF800000")
    return lambda scores: f.each([table, scores], [f"%r = arith.select %a, %b, {least.name} : f32", "%r"])


def torch_resnet():
    """NCHW, BatchNorm in inference form of constants, zero biases of convolutions, a pool for the mean."""
    f = Function()
    h, size = f.argument((2, 3, 8, 8)), 8

    def convolve(x, channels, extent=3, stride=1):
        nonlocal size
        padding = extent // 2
        padded = f.pad(x, [0, 0, padding, padding], [0, 0, padding, padding])
        size = (padded.shape[2] - extent) // stride + 1
        start = f.empty((2, channels, size, size))
        zeros = f.constant("0.0", (channels,))
        start = f.emit(f"linalg.broadcast ins({zeros.typed()}) outs({start.typed()}) dimensions = [0, 2, 3]", start.shape)
        y = f.named("linalg.conv_2d_nchw_fchw", [padded, f.weight(channels, x.shape[1], extent, extent)], start.shape,
                    f"{{dilations = dense<1> : vector<2xi64>, strides = dense<{stride}> : vector<2xi64>}} ", start)
        return normalize(y)

    def normalize(x):
        channels = x.shape[1]
        scale, shift, mean = f.values(channels, low=0.5), f.values(channels), f.values(channels)
        variance, epsilon = f.values(channels, low=0.5, high=1.5), f.number(1e-5, "f64")
        names = dims(4)
        maps = [names] + [["d1"]] * 4 + [names]
        return f.generic([x, scale, shift, mean, variance], maps, [f.empty(x.shape)], ["parallel"] * 4,
                         [f"%w = arith.truncf {epsilon.name} : f64 to f32", "%s = arith.addf %e, %w : f32", "%i = math.rsqrt %s : f32",
                          "%x = arith.subf %a, %d : f32", "%n = arith.mulf %x, %i : f32", "%g = arith.mulf %n, %b : f32",
                          "%r = arith.addf %g, %c : f32", "%r"])

    h = relu_of_torch(f, convolve(h, 6))
    padded = f.pad(h, [0, 0, 1, 1], [0, 0, 1, 1], "0xFF800000")
    window, start = f.empty((3, 3)), f.filled((2, 6, 4, 4), "0xFF800000")
    h = f.named("linalg.pooling_nchw_max", [padded, window], start.shape,
                "{dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ", start)
    for channels, stride in ((6, 1), (8, 2)):
        shortcut, size = h, h.shape[2]
        if stride != 1:
            shortcut = convolve(h, channels, 1, stride)
        h = convolve(relu_of_torch(f, convolve(h, channels, 3, stride)), channels)
        h = relu_of_torch(f, f.add(h, shortcut))
    pooled = f.reshape(f.mean(h, [2, 3]), (2, 8))
    return f.text([linear(f, pooled, f.weight(4, 8), f.weight(4))])


def torch_mobilenet():
    """Depthwise convolutions, hard swish of clamps, a gate from pooled values, no norm."""
    f = Function()
    h, groups = f.argument((2, 3, 8, 8)), 6
    one = "{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} "

    def pointwise(x, channels):
        y = f.named("linalg.conv_2d_nchw_fchw", [x, f.weight(channels, x.shape[1], 1, 1)], (2, channels) + x.shape[2:], one)
        return f.add(y, f.reshape(f.values(channels), (channels, 1, 1)))

    def hard_swish(x):
        three, zero, six = f.number(3.0), f.number(0.0), f.number(6.0)
        gate = f.each([x], [f"%s = arith.addf %a, {three.name} : f32", f"%l = arith.cmpf ult, %s, {zero.name} : f32",
                            f"%m = arith.select %l, {zero.name}, %s : f32", f"%g = arith.cmpf ugt, %m, {six.name} : f32",
                            f"%r = arith.select %g, {six.name}, %m : f32", "%r"])
        return f.each([x, gate], ["%m = arith.mulf %a, %b : f32", f"%r = arith.divf %m, {six.name} : f32", "%r"])

    for channels in (groups, groups):
        h = hard_swish(pointwise(h, channels))
        padded = f.pad(h, [0, 0, 1, 1], [0, 0, 1, 1])
        h = hard_swish(f.named("linalg.depthwise_conv_2d_nchw_chw", [padded, f.weight(channels, 3, 3)], h.shape, one))
        pooled = f.mean(h, [2, 3])
        gate = f.unary("math.exp", f.unary("arith.negf", pointwise(relu_of_torch(f, pointwise(pooled, 3)), channels)))
        number = f.number(1.0)
        gate = f.each([gate], [f"%s = arith.addf %a, {number.name} : f32", f"%r = arith.divf {number.name}, %s : f32", "%r"])
        h = f.binary("arith.mulf", h, gate)
    pooled = f.reshape(f.mean(h, [2, 3]), (2, groups))
    return f.text([linear(f, pooled, f.weight(4, groups), f.weight(4))])


def torch_gpt():
    """GPT-2: tables of words and positions, a causal mask, GELU by tanh, the head shares the table of words."""
    f, width, heads, positions, vocabulary = Function(), 8, 2, 6, 11
    words = f.weight(vocabulary, width)
    tokens = f.argument((2, positions), "i64")
    order = f.constant(list(range(positions)), (positions,), "i64")
    h = f.add(lookup(f, words, tokens), lookup(f, f.weight(positions, width), order))
    mask = causal(f, positions)
    for _ in range(2):
        x = layer_norm(f, h, f.constant("1.0", (width,)), f.constant("0.0", (width,)))
        joined = linear(f, x, f.weight(3 * width, width), f.weight(3 * width))
        query, key, value = (split_heads(f, f.slice(joined, 2, i * width, (i + 1) * width), heads) for i in range(3))
        attended = join_heads(f, attend(f, query, key, value, mask), 2)
        h = f.add(h, linear(f, attended, f.weight(width, width), f.weight(width)))
        x = layer_norm(f, h, f.constant("1.0", (width,)), f.constant("0.0", (width,)))
        inner = gelu_of_torch(f, linear(f, x, f.weight(4 * width, width), f.weight(4 * width)))
        h = f.add(h, linear(f, inner, f.weight(width, 4 * width), f.weight(width)))
    h = layer_norm(f, h, f.constant("1.0", (width,)), f.constant("0.0", (width,)))
    return f.text([linear(f, h, words)])


def torch_llama():
    """One sample: rotary tables and token ids are arguments, RMS norms, keys and values of fewer heads, SwiGLU."""
    f, width, heads, groups, positions, vocabulary = Function(), 16, 4, 2, 6, 13
    each = width // heads
    tokens = f.argument((1, positions), "i64")
    cosines, sines = f.argument((1, 1, positions, each)), f.argument((1, 1, positions, each))
    h, mask = lookup(f, f.weight(vocabulary, width), tokens), causal(f, positions)

    def norm(x):
        square, epsilon = f.mean(f.binary("arith.mulf", x, x), [2]), f.number(1e-6)
        root = f.each([square], [f"%s = arith.addf %a, {epsilon.name} : f32", "%r = math.rsqrt %s : f32", "%r"])
        return f.binary("arith.mulf", f.binary("arith.mulf", x, root), f.constant("1.0", (width,)))

    def turn(x):
        low, high = f.slice(x, 3, 0, each // 2), f.slice(x, 3, each // 2, each)
        half = f.emit(f"tensor.concat dim(3) {f.unary('arith.negf', high).name}, {low.name} : ({low.type}, {low.type}) -> {x.type}", x.shape)
        return f.add(f.binary("arith.mulf", x, cosines), f.binary("arith.mulf", half, sines))

    def apart(x, count):
        return f.transpose(f.reshape(x, (1, positions, count, each)), [0, 2, 1, 3])

    def repeat(x):
        shape = (1, groups, heads // groups, positions, each)
        names, empty = dims(5), f.empty(shape)
        wide = f.generic([x], [["d0", "d1", "d3", "d4"], names], [empty], ["parallel"] * 5, ["%a"])
        return f.reshape(f.reshape(wide, (1, heads, positions, each)), (heads, positions, each))

    for _ in range(2):
        x = norm(h)
        query = f.reshape(turn(apart(linear(f, x, f.weight(width, width)), heads)), (heads, positions, each))
        key = repeat(turn(apart(linear(f, x, f.weight(groups * each, width)), groups)))
        value = repeat(apart(linear(f, x, f.weight(groups * each, width)), groups))
        h = f.add(h, linear(f, join_heads(f, attend(f, query, key, value, mask), 1), f.weight(width, width)))
        x = norm(h)
        gate, up = linear(f, x, f.weight(24, width)), linear(f, x, f.weight(24, width))
        one = f.number(1.0)
        silu = f.each([gate], ["%n = arith.negf %a : f32", "%e = math.exp %n : f32", f"%s = arith.addf %e, {one.name} : f32",
                               "%r = arith.divf %a, %s : f32", "%r"])
        h = f.add(h, linear(f, f.binary("arith.mulf", silu, up), f.weight(width, 24)))
    return f.text([linear(f, norm(h), f.weight(vocabulary, width))])


def torch_vit():
    """Patches by a convolution as wide as its step, a token of its own for the class, whose row the head reads."""
    f, width, heads, side = Function(), 8, 2, 4
    image = f.argument((2, 3, 8, 8))
    patches = f.named("linalg.conv_2d_nchw_fchw", [image, f.weight(width, 3, 2, 2)], (2, width, side, side),
                      "{dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>} ")
    h = f.transpose(f.reshape(patches, (2, width, side * side)), [0, 2, 1])
    token = f.values(1, 1, width)
    wide = f.generic([token], [["0", "0", "d2"], dims(3)], [f.empty((2, 1, width))], ["parallel"] * 3, ["%a"])
    count = side * side + 1
    h = f.emit(f"tensor.concat dim(1) {wide.name}, {h.name} : ({wide.type}, {h.type}) -> {tensor((2, count, width))}", (2, count, width))
    h = f.add(h, f.weight(1, count, width))
    for _ in range(2):
        x = layer_norm(f, h, f.constant("1.0", (width,)), f.constant("0.0", (width,)))
        query, key, value = (split_heads(f, linear(f, x, f.weight(width, width), f.weight(width)), heads) for _ in range(3))
        h = f.add(h, linear(f, join_heads(f, attend(f, query, key, value), 2), f.weight(width, width), f.weight(width)))
        x = layer_norm(f, h, f.constant("1.0", (width,)), f.constant("0.0", (width,)))
        h = f.add(h, linear(f, gelu_of_torch(f, linear(f, x, f.weight(16, width), f.weight(16))), f.weight(width, 16), f.weight(width)))
    first = f.reshape(f.slice(h, 1, 0, 1), (2, width))
    return f.text([linear(f, first, f.weight(4, width), f.weight(4))])


def torch_seq2seq():
    """An encoder and a decoder of two inputs: a skip of the encoder's result over all of the decoder."""
    f, width, heads, positions = Function(), 8, 2, 5
    source, target = f.argument((2, positions), "i64"), f.argument((2, positions), "i64")
    words = f.weight(11, width)

    def norm(x):
        return layer_norm(f, x, f.constant("1.0", (width,)), f.constant("0.0", (width,)))

    def attention(x, memory, mask=None):
        query = split_heads(f, linear(f, x, f.weight(width, width)), heads)
        key, value = (split_heads(f, linear(f, memory, f.weight(width, width)), heads) for _ in range(2))
        return f.add(x, linear(f, join_heads(f, attend(f, query, key, value, mask), 2), f.weight(width, width)))

    def feed(x):
        return f.add(x, linear(f, relu_of_torch(f, linear(f, norm(x), f.weight(16, width))), f.weight(width, 16)))

    memory = lookup(f, words, source)
    for _ in range(2):
        memory = feed(attention(memory, norm(memory)))
    h, mask = lookup(f, words, target), causal(f, positions)
    for _ in range(2):
        h = feed(attention(attention(h, norm(h), mask), memory))
    return f.text([linear(f, norm(h), words)])


class Tosa(Function):
    """Operands have equal ranks, shapes are values, products have zero points."""

    def shape_of(self, shape):
        return self.emit(f"tosa.const_shape {{values = dense<{list(shape)}> : tensor<{len(shape)}xindex>}} : () -> !tosa.shape<{len(shape)}>", shape)

    def op(self, name, operands, shape, attributes=""):
        types = ", ".join(v.type for v in operands)
        return self.emit(f"tosa.{name} {', '.join(v.name for v in operands)} {attributes}: ({types}) -> {tensor(shape)}", shape)

    def constant(self, text, shape, element="f32"):
        return self.emit(f'"tosa.const"() <{{values = dense<{text}> : {tensor(shape, element)}}}> : () -> {tensor(shape, element)}', shape, element)

    def weight(self, *shape):
        return self.emit(f'"tosa.const"() <{{values = dense_resource<__elided__> : {tensor(shape)}}}> : () -> {tensor(shape)}', shape)

    def reshape(self, a, shape):
        by = self.shape_of(shape)
        return self.emit(f"tosa.reshape {a.name}, {by.name} : ({a.type}, !tosa.shape<{len(shape)}>) -> {tensor(shape)}", shape)

    def transpose(self, a, permutation):
        shape = [a.shape[i] for i in permutation]
        return self.op("transpose", [a], shape, f"{{perms = array<i32: {', '.join(map(str, permutation))}>}} ")

    def wide(self, a, b):
        return broadcast(a.shape, b.shape)

    def add(self, a, b):
        return self.op("add", [a, b], self.wide(a, b))

    def sub(self, a, b):
        return self.op("sub", [a, b], self.wide(a, b))

    def mul(self, a, b):
        shift = self.constant("0", (1,), "i8")
        return self.op("mul", [a, b, shift], self.wide(a, b))

    def scale(self, a, factor):
        return self.mul(a, self.constant(f"{factor:e}", (1,) * len(a.shape)))

    def matmul(self, a, b):
        zeros = [self.constant("0.0", (1,)) for _ in "ab"]
        return self.op("matmul", [a, b, *zeros], a.shape[:2] + b.shape[2:])

    def reduced(self, kind, a, axis):
        shape = [1 if i == axis else n for i, n in enumerate(a.shape)]
        return self.op(f"reduce_{kind}", [a], shape, f"{{axis = {axis} : i32}} ")

    def linear(self, x, weight, bias):
        batch, positions, width = x.shape
        rows = self.reshape(x, (1, batch * positions, width))
        product = self.reshape(self.matmul(rows, weight), (batch, positions, weight.shape[2]))
        return self.add(product, bias)

    def norm(self, x, scale, shift):
        centred = self.sub(x, self.scale(self.reduced("sum", x, 2), 1 / x.shape[2]))
        variance = self.scale(self.reduced("sum", self.mul(centred, centred), 2), 1 / x.shape[2])
        root = self.add(variance, self.constant("1.0e-5", (1, 1, 1)))
        root = self.op("rsqrt", [root], root.shape)
        return self.add(self.mul(self.mul(centred, root), scale), shift)

    def softmax(self, x):
        powers = self.op("exp", [self.sub(x, self.reduced("max", x, 2))], x.shape)
        total = self.reduced("sum", powers, 2)
        return self.mul(powers, self.op("reciprocal", [total], total.shape))


def tosa_encoder():
    f, width, heads, positions = Tosa(), 8, 2, 5
    h = f.argument((2, positions, width))
    h = f.add(h, f.values(1, positions, width))

    def apart(x):
        x = f.transpose(f.reshape(x, (2, positions, heads, width // heads)), [0, 2, 1, 3])
        return f.reshape(x, (2 * heads, positions, width // heads))

    def linear(x, wide):
        return f.linear(x, f.weight(1, x.shape[2], wide), f.weight(1, 1, wide))

    for _ in range(2):
        query, key, value = (apart(linear(h, width)) for _ in range(3))
        scores = f.scale(f.matmul(query, f.transpose(key, [0, 2, 1])), (width / heads) ** -0.5)
        attended = f.reshape(f.matmul(f.softmax(scores), value), (2, heads, positions, width // heads))
        attended = f.reshape(f.transpose(attended, [0, 2, 1, 3]), (2, positions, width))
        h = f.norm(f.add(h, linear(attended, width)), f.values(1, 1, width, low=0.5), f.values(1, 1, width))
        inner = linear(h, 16)
        inner = f.op("clamp", [inner], inner.shape, "{min_val = 0.0 : f32, max_val = 6.0 : f32} ")
        h = f.norm(f.add(h, linear(inner, width)), f.values(1, 1, width, low=0.5), f.values(1, 1, width))
    gate = linear(h, 4)
    return f.text([f.mul(f.op("sigmoid", [gate], gate.shape), f.op("tanh", [gate], gate.shape))])


def tosa_convnet():
    """NHWC with kernels OHWI, a depthwise convolution, both pools, a norm folded into scale and shift."""
    f, size = Tosa(), 8
    image = f.argument((2, size, size, 3))
    step = "acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>"

    def zeros():
        return [f.constant("0.0", (1,)) for _ in "ab"]

    h = f.op("conv2d", [image, f.weight(6, 3, 3, 3), f.values(6), *zeros()], (2, 8, 8, 6), f"{{{step}}} ")
    h = f.add(f.mul(h, f.values(1, 1, 1, 6, low=0.5)), f.values(1, 1, 1, 6))
    h = f.op("clamp", [h], h.shape, "{min_val = 0.0 : f32, max_val = 3.4e38 : f32} ")
    h = f.op("max_pool2d", [h], (2, 4, 4, 6), "{kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} ")
    h = f.op("depthwise_conv2d", [h, f.weight(3, 3, 6, 1), f.constant("0.0", (6,)), *zeros()], (2, 4, 4, 6), f"{{{step}}} ")
    h = f.op("clamp", [h], h.shape, "{min_val = 0.0 : f32, max_val = 6.0 : f32} ")
    h = f.op("conv2d", [h, f.weight(8, 1, 1, 6), f.values(8), *zeros()], (2, 4, 4, 8), f"{{{step.replace('1, 1, 1, 1', '0, 0, 0, 0')}}} ")
    h = f.op("avg_pool2d", [h, *zeros()], (2, 1, 1, 8),
             "{acc_type = f32, kernel = array<i64: 4, 4>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 4, 4>} ")
    logits = f.linear(f.reshape(h, (2, 1, 8)), f.weight(1, 8, 4), f.values(1, 1, 4))
    return f.text([f.reshape(logits, (2, 4))])


def onnx_encoder():
    """BERT by opset 12: gathers that wrap, norms by powers and roots, GELU by erf, a mask of integers, a token that is pooled."""
    f, width, heads, positions, vocabulary = Function(), 8, 2, 6, 11
    tokens, kinds, present = (f.argument((2, positions), "i64") for _ in range(3))
    order = f.constant([list(range(positions))], (1, positions), "i64")
    h = f.add(lookup(f, f.weight(vocabulary, width), tokens, True), lookup(f, f.weight(2, width), kinds, True))
    h = f.add(h, lookup(f, f.weight(positions, width), order, True))
    one, least = f.number(1.0), f.number(-1e4)
    floats = f.each([present], [f"%f = arith.sitofp %a : i64 to f32", f"%n = arith.subf {one.name}, %f : f32",
                                f"%r = arith.mulf %n, {least.name} : f32", "%r"])
    masked = f.reshape(floats, (2, 1, 1, positions))

    def norm(x):
        centred, two, epsilon = f.binary("arith.subf", x, f.mean(x, [2])), f.number(2.0), f.number(1e-12)
        square = f.each([centred], [f"%r = math.powf %a, {two.name} : f32", "%r"])
        root = f.each([f.mean(square, [2])], [f"%s = arith.addf %a, {epsilon.name} : f32", "%r = math.sqrt %s : f32", "%r"])
        scaled = f.binary("arith.mulf", f.binary("arith.divf", centred, root), f.weight(width))
        return f.add(scaled, f.weight(width))

    def mask(scores):
        apart = f.reshape(scores, (2, heads, positions, positions))
        return f.reshape(f.add(apart, masked), scores.shape)

    def dense(x, columns):
        rows = f.reshape(x, (2 * positions, x.shape[2]))
        return f.add(f.reshape(f.matmul(rows, f.weight(x.shape[2], columns)), (2, positions, columns)), f.weight(columns))

    def gelu(x):
        root, half = f.number(math.sqrt(2.0)), f.number(0.5)
        return f.each([x], [f"%d = arith.divf %a, {root.name} : f32", "%e = math.erf %d : f32", f"%s = arith.addf %e, {one.name} : f32",
                            "%m = arith.mulf %a, %s : f32", f"%r = arith.mulf %m, {half.name} : f32", "%r"])

    h = norm(h)
    for _ in range(2):
        query, key, value = (split_heads(f, dense(h, width), heads) for _ in range(3))
        h = norm(f.add(h, dense(join_heads(f, attend(f, query, key, value, mask), 2), width)))
        h = norm(f.add(h, dense(gelu(dense(h, 16)), width)))
    first = f.reshape(f.slice(h, 1, 0, 1), (2, width))
    pooled = f.unary("math.tanh", linear(f, first, f.weight(width, width), f.weight(width)))
    return f.text([linear(f, pooled, f.weight(3, width), f.weight(3))])


class Model(NamedTuple):
    write: Callable[[], str]
    options: str  # of compile
    ranges: dict = {}  # of data by name, both ends included


MODELS = {
    "jax-mlp": Model(jax_mlp, "", {"arg9": (0, 1)}),
    "jax-convnet": Model(jax_convnet, "--loss cross-entropy"),
    "jax-scan": Model(jax_scan, "--loss cross-entropy"),
    "torch-resnet": Model(torch_resnet, "--loss cross-entropy"),
    "torch-mobilenet": Model(torch_mobilenet, "--loss cross-entropy"),
    "torch-gpt": Model(torch_gpt, "--loss cross-entropy"),
    "torch-llama": Model(torch_llama, "--loss cross-entropy"),
    "torch-vit": Model(torch_vit, "--loss cross-entropy"),
    "torch-seq2seq": Model(torch_seq2seq, "--loss cross-entropy"),
    "tosa-encoder": Model(tosa_encoder, "--loss mse"),
    "tosa-convnet": Model(tosa_convnet, "--loss cross-entropy"),
    "onnx-encoder": Model(onnx_encoder, "--loss cross-entropy", {"arg1": (0, 1), "arg2": (0, 1)}),
}


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[2:] or MODELS:
        (directory / f"{name}.mlir").write_text(MODELS[name].write())


if __name__ == "__main__":
    main()
