# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes one function on tensors in upstream MLIR dialects as text.

The example generators share this module. It needs the standard library only and
knows nothing of any model: values with shapes, the linalg ops that an exporter
emits, the attributes of Veeline's input contract. Shapes are checked while the
text is written, so a generator cannot produce a function that MLIR refuses.
"""

import argparse
import math
import re
import struct
from typing import NamedTuple

ELEMENT_TYPES = ("f32", "f64")
# Of matrix products in a function of f32.
SMALL_TYPES = ("bf16", "f16")
FLOATS = ELEMENT_TYPES + SMALL_TYPES
ACTIVATIONS = ("gelu-tanh", "gelu-erf", "silu", "relu")


class Length(int):
    """An extent that is known when the model runs: a multiple of one length.

    As a number it is the greatest one that it can be, by which shapes are checked.
    """

    def __new__(cls, bound, factor=1):
        extent = super().__new__(cls, bound * factor)
        extent.bound, extent.factor = bound, factor
        return extent

    def __mul__(self, other):
        return Length(self.bound, self.factor * other)

    __rmul__ = __mul__


def _size(extent):
    return "?" if isinstance(extent, Length) else str(extent)


def _product(extents):
    """`math.prod`, which does not know of lengths that stand behind plain numbers."""
    product = 1
    for extent in extents:
        product = product * extent
    return product


class Value(NamedTuple):
    """An SSA value: its name without the percent sign, its shape, its element type."""

    name: str
    shape: tuple
    element: str

    @property
    def type(self):
        return "tensor<" + "".join(_size(size) + "x" for size in self.shape) + self.element + ">"

    def __str__(self):
        return "%" + self.name


def float_literal(value, element):
    """A literal of the f32 or f64 `value` in the form that MLIR's parser takes."""
    if math.isinf(value) or math.isnan(value):
        pack, unpack, digits = {"f32": ("<f", "<I", 8), "f64": ("<d", "<Q", 16)}[element]
        return f"0x{struct.unpack(unpack, struct.pack(pack, value))[0]:0{digits}X}"
    text = repr(float(value))
    mantissa, exponent, power = text.partition("e")
    return (mantissa if "." in mantissa else mantissa + ".0") + exponent + power


class Body:
    """The scalar body of a `linalg.generic` while it is written."""

    def __init__(self, function, arguments):
        self._function = function
        self._names = set()
        self._lines = []
        for name in arguments:
            self._define(name)

    def _define(self, name):
        if name in self._names or self._function.defines(name):
            raise ValueError(f"the name %{name} is taken where a body wants to define it")
        self._names.add(name)
        return "%" + name

    def convert(self, name, value, source, target):
        """`value` of the float type `source` as one of `target`."""
        if source == target:
            return value
        opcode = "arith.truncf" if target in SMALL_TYPES else "arith.extf"
        return self.line(name, f"{opcode} {value} : {source} to {target}")

    def line(self, name, text):
        """Defines `%name` as `text`, which ends with the type."""
        result = self._define(name)
        self._lines.append(f"{result} = {text}")
        return result

    def op(self, name, opcode, *operands):
        """Defines `%name` by an op whose operands and result have the function's float type."""
        return self.line(name, f"{opcode} {', '.join(operands)} : {self._function.element}")

    def flag(self, name, text):
        """1 where the comparison `text` holds, else 0, as a float."""
        bit = self.line(name, text)
        return self.line(name + "_number", f"arith.uitofp {bit} : i1 to {self._function.element}")

    def index(self, name, dimension):
        return self.line(name, f"linalg.index {dimension} : index")

    def constant(self, value):
        return self._function.constant(value)

    def lines(self, result, element):
        return [*self._lines, f"linalg.yield {result} : {element}"]


class Function:
    """A function on tensors under construction; `text` gives the finished module.

    Parameters, constants and all scalars are of `element`. `product_type` is what
    matrix products multiply and give; where that is smaller, their operands are
    rounded, and whatever else reads a result extends it.
    """

    def __init__(self, name, element, product_type=None):
        self.element = element
        self.product_type = product_type or element
        self._name = name
        self._arguments = []
        self._maps = {}
        self._constants = {}
        self._rounded = {}
        self._lines = []
        self._defined = set()
        self.parameter_count = 0

    # Names and arguments

    def defines(self, name):
        return name in self._defined

    def _define(self, name, shape, element=None):
        if name in self._defined:
            raise ValueError(f"%{name} is defined twice")
        self._defined.add(name)
        return Value(name, tuple(shape), element or self.element)

    def batch(self, name, shape, element=None):
        """An argument of which each microbatch has its own slice."""
        value = self._define(name, shape, element)
        self._arguments.append(f'{value}: {value.type} {{pipe.batch = "{name}"}}')
        return value

    def parameter(self, name, shape, init):
        """A trainable argument; `init` is one of the initialisers of `#pipe.param`."""
        value = self._define(re.sub(r"\W", "_", name), shape)
        self._arguments.append(
            f'{value}: {value.type} {{pipe.param = #pipe.param<"{name}", init = {init}>}}')
        self.parameter_count += math.prod(shape)
        return value

    def constant(self, value, element=None):
        """The name of a scalar float constant; equal constants are one op."""
        element = element or self.element
        literal = (float_literal(value, element), element)
        if literal not in self._constants:
            stem = "inf" if math.isinf(value) else f"{abs(value):.4g}"
            stem = stem.replace(".", "p").replace("-", "m").replace("+", "")
            name = ("neg_" if value < 0 else "cst_") + stem
            name += "" if element == self.element else f"_{element}"
            while name in self._defined:
                name += "_"
            self._defined.add(name)
            self._constants[literal] = "%" + name
        return self._constants[literal]

    # Extents that are known when the model runs

    def take_length(self, value, dimension):
        """The length is the extent of `value` along `dimension`."""
        self._emit(f"%length_dim = arith.constant {dimension} : index")
        self._emit(f"%length = tensor.dim {value}, %length_dim : {value.type}")
        self._lengths = {1: "%length"}
        self._numbers = set()

    def extent(self, size):
        """`size` as an operand: a number, or the name of a value."""
        if not isinstance(size, Length):
            return str(size)
        if size.factor not in self._lengths:
            name = f"%length_x{size.factor}"
            self._emit(f"%factor_{size.factor} = arith.constant {size.factor} : index")
            self._emit(f"{name} = arith.muli %length, %factor_{size.factor} : index")
            self._lengths[size.factor] = name
        return self._lengths[size.factor]

    def _extents(self, sizes):
        return "[" + ", ".join([self.extent(size) for size in sizes]) + "]"

    def number(self, size):
        """`size` as a scalar float."""
        if not isinstance(size, Length):
            return self.constant(size)
        extent = self.extent(size)
        name = f"%number_{size.factor}"
        if name in self._numbers:
            return name
        self._numbers.add(name)
        self._emit(f"{name}_i64 = arith.index_cast {extent} : index to i64")
        self._emit(f"{name} = arith.sitofp {name}_i64 : i64 to {self.element}")
        return name

    # Ops

    def _emit(self, text):
        self._lines.append(text)

    def comment(self, text):
        self._emit("")
        self._emit(f"// {text}")

    def boundary(self, name, value):
        """Marks a cut of the pipeline; the result is `value` on the other side."""
        result = self._define(name, value.shape, value.element)
        self._emit("")
        self._emit(f"{result} = pipe.boundary {value} : {value.type}")
        return result

    def empty(self, name, shape, element=None):
        value = self._define(name, shape, element)
        sizes = ", ".join([self.extent(size) for size in shape if isinstance(size, Length)])
        self._emit(f"{value} = tensor.empty({sizes}) : {value.type}")
        return value

    def fill(self, name, shape, number, element=None):
        element = element or self.element
        scalar = self.constant(number, element)
        init = self.empty(name + "_empty", shape, element)
        value = self._define(name, shape, element)
        self._emit(f"{value} = linalg.fill ins({scalar} : {element}) "
                   f"outs({init} : {init.type}) -> {value.type}")
        return value

    # Between the type of products and that of everything else

    def rounded(self, value):
        """`value` as an operand of a product; of one value there is one."""
        if value.element == self.product_type:
            return value
        if value.name not in self._rounded:
            self._rounded[value.name] = self._converted(value, self.product_type, "arith.truncf")
        return self._rounded[value.name]

    def extended(self, value):
        """`value` in the type of scalars."""
        return value if value.element == self.element else self._converted(value, self.element, "arith.extf")

    def _converted(self, value, element, opcode):
        result = self._define(f"{value.name}_{element}", value.shape, element)
        self._emit(f"{result} = {opcode} {value} : {value.type} to {result.type}")
        return result

    def _map(self, rank, results):
        letters = "ijklmn"[:rank]
        target = "".join(letters[dim] for dim in results)
        alias = f"#{letters or 'none'}_to_{target or 'none'}"
        self._maps[alias] = f"affine_map<({', '.join(letters)}) -> ({', '.join(target)})>"
        return alias

    def generic(self, name, inputs, shape, compute, element=None):
        """An elementwise `linalg.generic` over `shape`, whose result is of `element`.

        `inputs` maps the name of a body argument to a value, or to a pair of a value
        and the iteration dimensions that index it. `compute` gets the body and the
        argument names with their percent signs, and returns the result's name. It
        computes in the function's type; smaller floats are extended before it, and
        its result is rounded to `element`.
        """
        element = element or self.element
        rank = len(shape)
        operands, maps = [], []
        for argument, operand in inputs.items():
            value, dims = operand if not isinstance(operand, Value) else (operand, range(rank))
            if tuple(shape[dim] for dim in dims) != value.shape:
                raise ValueError(f"{value} of type {value.type} does not fit {shape} by {list(dims)}")
            operands.append((argument, value))
            maps.append(self._map(rank, dims))
        maps.append(self._map(rank, range(rank)))
        operands = [(f"{argument}_{v.element}" if v.element in SMALL_TYPES else argument, v)
                    for argument, v in operands]
        body = Body(self, [*(argument for argument, _ in operands), "out"])
        scalars = [body.convert(argument, "%" + small, v.element, self.element)
                   if v.element in SMALL_TYPES else "%" + argument
                   for argument, (small, v) in zip(inputs, operands)]
        result = compute(body, *scalars)
        result = body.convert("rounded", result, self.element, element)
        init = self.empty(name + "_empty", shape, element)
        value = self._define(name, shape, element)
        iterators = ", ".join(['"parallel"'] * rank)
        self._emit(f"{value} = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
                   f"iterator_types = [{iterators}]}}")
        if operands:
            self._emit(f"    ins({', '.join(str(v) for _, v in operands)} : "
                       f"{', '.join(v.type for _, v in operands)})")
        self._emit(f"    outs({init} : {init.type}) {{")
        arguments = [f"%{argument}: {v.element}" for argument, v in operands]
        self._emit(f"^bb0({', '.join([*arguments, f'%out: {element}'])}):")
        for line in body.lines(result, element):
            self._emit("  " + line)
        self._emit(f"}} -> {value.type}")
        return value

    def add(self, name, left, right):
        return self.generic(name, {"left": left, "right": right}, left.shape,
                            lambda b, x, y: b.op("sum", "arith.addf", x, y))

    def add_bias(self, name, matrix, bias):
        return self.generic(name, {"in": matrix, "bias": (bias, [1])}, matrix.shape,
                            lambda b, x, y: b.op("sum", "arith.addf", x, y), matrix.element)

    def square(self, name, value):
        return self.generic(name, {"in": value}, value.shape,
                            lambda b, x: b.op("squared", "arith.mulf", x, x))

    def divide_by(self, name, value, number):
        """Divides by a constant, or a length, of at least one."""
        divisor = self.number(number)
        return self.generic(name, {"in": value}, value.shape,
                            lambda b, x: b.op("quotient", "arith.divf", x, divisor))

    def activation(self, name, value, kind):
        compute = {"gelu-tanh": _gelu_tanh, "gelu-erf": _gelu_erf, "silu": _silu, "relu": _relu}
        return self.generic(name, {"in": value}, value.shape, compute[kind], value.element)

    def matmul(self, name, left, right, transpose_right=False):
        """left [m, k] times right [k, n], or right [n, k] where it is transposed."""
        columns, inner = right.shape if transpose_right else right.shape[::-1]
        if left.shape[1] != inner:
            raise ValueError(f"matmul of {left.type} and {right.type}")
        maps = ""
        if transpose_right:
            maps = self._product_maps((0, 2), (1, 2), (0, 1))
        return self._product("linalg.matmul" + maps, name, left, right, (left.shape[0], columns))

    def batch_matmul(self, name, left, right, transpose_right=False):
        """left [b, m, k] times right [b, k, n], or right [b, n, k] where it is transposed."""
        columns, inner = right.shape[1:] if transpose_right else right.shape[:0:-1]
        if left.shape[0] != right.shape[0] or left.shape[2] != inner:
            raise ValueError(f"batch_matmul of {left.type} and {right.type}")
        maps = ""
        if transpose_right:
            maps = self._product_maps((0, 1, 3), (0, 2, 3), (0, 1, 2))
        return self._product("linalg.batch_matmul" + maps, name, left, right,
                             (*left.shape[:2], columns))

    def _product_maps(self, *results):
        rank = len(results[0]) + 1
        return f" indexing_maps = [{', '.join(self._map(rank, dims) for dims in results)}]"

    def _product(self, opcode, name, left, right, shape):
        left, right = self.rounded(left), self.rounded(right)
        init = self.fill(name + "_init", shape, 0.0, self.product_type)
        value = self._define(name, shape, self.product_type)
        self._emit(f"{value} = {opcode}")
        self._emit(f"    ins({left}, {right} : {left.type}, {right.type}) "
                   f"outs({init} : {init.type}) -> {value.type}")
        return value

    def linear(self, name, value, weight, bias):
        """value [rows, in] times weight [in, out], plus bias [out]."""
        return self.add_bias(name, self.matmul(name + "_product", value, weight), bias)

    def reduce(self, name, value, kind, dimensions=None):
        """Reduces `dimensions`, or else the last one, by `sum` or `max`."""
        opcode, neutral = {"sum": ("arith.addf", 0.0), "max": ("arith.maximumf", -math.inf)}[kind]
        dimensions = dimensions or [len(value.shape) - 1]
        shape = [size for dim, size in enumerate(value.shape) if dim not in dimensions]
        init = self.fill(name + "_init", shape, neutral)
        result = self._define(name, shape)
        self._emit(f"{result} = linalg.reduce {{ {opcode} }} ins({value} : {value.type}) "
                   f"outs({init} : {init.type}) dimensions = {dimensions}")
        return result

    def pad(self, name, value, low, high):
        """Zeros around `value`: as many before and after each dimension as the lists say."""
        shape = [sum(sizes) for sizes in zip(low, value.shape, high)]
        zero = self.constant(0.0, value.element)
        result = self._define(name, shape, value.element)
        indices = ", ".join(f"%{letter}: index" for letter in "ijklmn"[:len(shape)])
        self._emit(f"{result} = tensor.pad {value} low{list(low)} high{list(high)} {{")
        self._emit(f"^bb0({indices}):")
        self._emit(f"  tensor.yield {zero} : {value.element}")
        self._emit(f"}} : {value.type} to {result.type}")
        return result

    def convolution(self, name, value, weight, stride=1):
        """value [n, h, w, c] by weight [kh, kw, c, f], zeros around: h and w shrink by stride."""
        value, weight = self.rounded(value), self.rounded(weight)
        around = [0, weight.shape[0] // 2, weight.shape[1] // 2, 0]
        if any(around):
            value = self.pad(name + "_padded", value, around, around)
        count, *sizes, channels = value.shape
        if channels != weight.shape[2]:
            raise ValueError(f"convolution of {value.type} and {weight.type}")
        sizes = [(size - window) // stride + 1 for size, window in zip(sizes, weight.shape)]
        init = self.fill(name + "_init", (count, *sizes, weight.shape[3]), 0.0, self.product_type)
        result = self._define(name, init.shape, self.product_type)
        self._emit(f"{result} = linalg.conv_2d_nhwc_hwcf "
                   f"{{dilations = dense<1> : tensor<2xi64>, strides = dense<{stride}> : tensor<2xi64>}}")
        self._emit(f"    ins({value}, {weight} : {value.type}, {weight.type}) "
                   f"outs({init} : {init.type}) -> {result.type}")
        return result

    def transpose(self, name, value, permutation):
        shape = tuple(value.shape[dim] for dim in permutation)
        init = self.empty(name + "_empty", shape, value.element)
        result = self._define(name, shape, value.element)
        self._emit(f"{result} = linalg.transpose ins({value} : {value.type}) "
                   f"outs({init} : {init.type}) permutation = {list(permutation)}")
        return result

    def collapse(self, name, value, groups):
        shape = [_product(value.shape[dim] for dim in group) for group in groups]
        result = self._define(name, shape, value.element)
        self._emit(f"{result} = tensor.collapse_shape {value} {groups} "
                   f": {value.type} into {result.type}")
        return result

    def expand(self, name, value, groups, shape):
        result = self._define(name, shape, value.element)
        sizes = self._extents(shape)
        self._emit(f"{result} = tensor.expand_shape {value} {groups} "
                   f"output_shape {sizes} : {value.type} into {result.type}")
        return result

    def slice(self, name, value, dimension, offset, size, drop=False):
        """`size` elements from `offset` along `dimension`, which `drop` removes from the type."""
        offsets = [offset if dim == dimension else 0 for dim in range(len(value.shape))]
        sizes = [size if dim == dimension else extent for dim, extent in enumerate(value.shape)]
        kept = [extent for dim, extent in enumerate(sizes) if not (drop and dim == dimension)]
        result = self._define(name, kept, value.element)
        extents = self._extents(sizes)
        self._emit(f"{result} = tensor.extract_slice {value}{offsets} {extents} "
                   f"{[1] * len(sizes)} : {value.type} to {result.type}")
        return result

    def concat(self, name, values, dimension):
        shape = list(values[0].shape)
        shape[dimension] = sum(value.shape[dimension] for value in values)
        result = self._define(name, shape, values[0].element)
        self._emit(f"{result} = tensor.concat dim({dimension}) {', '.join(map(str, values))} "
                   f": ({', '.join(value.type for value in values)}) -> {result.type}")
        return result

    # Losses

    def exp_and_sum(self, stem, x):
        """The maximum of each row, exp of what lies below it, and the sum of that."""
        x = self.extended(x)
        rows = list(range(len(x.shape) - 1))
        largest = self.reduce(stem + "_max", x, "max")

        def exponentiate(b, x, largest):
            return b.op("power", "math.exp", b.op("below", "arith.subf", x, largest))

        power = self.generic(stem + "_exp", {"in": x, "largest": (largest, rows)}, x.shape,
                             exponentiate)
        return largest, power, self.reduce(stem + "_exp_sum", power, "sum")

    def cross_entropy(self, logits, labels, ignored=None):
        """The mean over rows of `logits` [rows, classes], with a class for each in `labels`.

        Rows whose label is `ignored` do not count; without any other the mean is 0.
        """
        largest, _, total = self.exp_and_sum("logits", logits)

        def log_sum(b, total, largest):
            return b.op("normalizer", "arith.addf", b.op("log", "math.log", total), largest)

        def look_up(b, label):
            row = b.index("row", 0)
            column = b.line("column", f"arith.index_cast {label} : i32 to index")
            entry = b.line("entry", f"tensor.extract {logits}[{row}, {column}] : {logits.type}")
            return b.convert("wide", entry, logits.element, self.element)

        normalizer = self.generic("logits_log_sum_exp", {"total": total, "largest": largest},
                                  total.shape, log_sum)
        label_logits = self.generic("label_logits", {"label": labels}, labels.shape, look_up)
        losses = self.generic("row_losses", {"normalizer_in": normalizer, "logit": label_logits},
                              labels.shape,
                              lambda b, n, logit: b.op("difference", "arith.subf", n, logit))
        # For `accuracy`.
        self._largest, self._label_logits = largest, label_logits
        if ignored is None:
            return self.divide_by("loss", self.reduce("loss_sum", losses, "sum"), labels.shape[0])
        return self._mean_of_counted("loss", losses, labels, ignored)

    def count_labels(self, labels, ignored=None):
        """How many of `labels` are not `ignored`, as a float."""
        if ignored is None:
            number = self.number(labels.shape[0])
            return self.generic("label_count", {}, (), lambda b: number)
        return self._count(labels, ignored)[1]

    def count_where(self, flags):
        """Makes rows count, in what follows, where an integer of `flags` is not 0."""
        self._emit("%ignored_flag = arith.constant 0 : i32")
        counted = self.generic(
            "counted", {"flag": flags}, flags.shape,
            lambda b, flag: b.flag("counts", f"arith.cmpi ne, {flag}, %ignored_flag : i32"))
        self._counted = counted, self.reduce("label_count", counted, "sum")

    def accuracy(self, labels, ignored=None):
        """The share of rows whose label has the largest of the logits, after `cross_entropy`."""
        hits = self.generic("hits", {"logit": self._label_logits, "largest": self._largest},
                            labels.shape, lambda b, logit, largest: b.flag(
                                "hit", f"arith.cmpf oeq, {logit}, {largest} : {self.element}"))
        if ignored is None:
            return self.divide_by("accuracy", self.reduce("hit_sum", hits, "sum"), labels.shape[0])
        return self._mean_of_counted("accuracy", hits, labels, ignored)

    def _count(self, labels, ignored):
        """1 for each label that counts and 0 for others, and their sum."""
        if "counted" not in self._defined:
            self._emit(f"%ignored_label = arith.constant {ignored} : i32")
            counted = self.generic(
                "counted", {"label": labels}, labels.shape,
                lambda b, label: b.flag("counts", f"arith.cmpi ne, {label}, %ignored_label : i32"))
            self._counted = counted, self.reduce("label_count", counted, "sum")
        return self._counted

    def _mean_of_counted(self, name, values, labels, ignored):
        """The mean over rows that count, 0 where none does."""
        counted, number = self._count(labels, ignored)
        kept = self.generic(f"{name}_counted", {"value": values, "one": counted}, values.shape,
                            lambda b, value, one: b.op("kept", "arith.mulf", value, one))
        return self.generic(
            name, {"total": self.reduce(f"{name}_sum", kept, "sum"), "number": number}, (),
            lambda b, total, number: b.op("mean", "arith.divf", total, b.op(
                "least", "arith.maximumf", number, b.constant(1.0))))

    # Loops

    def loop(self, count, carried, compute, unroll=None):
        """An `scf.for` over 0, 1, ..., `count` - 1.

        `carried` maps the name of what an iteration hands to the next to its first value.
        `compute` gets the name of the induction variable with its percent sign and the
        carried values, and returns the next ones. The results are what is left in the end;
        `unroll` says whether Veeline unrolls the loop.
        """
        counter = self._define("t", ())
        arguments = [self._define(name, value.shape, value.element)
                     for name, value in carried.items()]
        results = self._define("_".join(carried) + "_last", ())
        types = ", ".join(value.type for value in arguments)
        inits = ", ".join(f"{argument} = {init}"
                          for argument, init in zip(arguments, carried.values()))
        bounds = [f"%{name}" for name in ("first", "count", "step")]
        for name, number in zip(bounds, (0, count, 1)):
            self._emit(f"{name} = arith.constant {number} : index")
        self._emit(f"{results}:{len(arguments)} = scf.for {counter} = {bounds[0]} to {bounds[1]} "
                   f"step {bounds[2]}")
        self._emit(f"    iter_args({inits}) -> ({types}) {{")
        outside, self._lines = self._lines, []
        following = compute(str(counter), *arguments)
        self._emit(f"scf.yield {', '.join(map(str, following))} : {types}")
        outside += [f"  {line}".rstrip() for line in self._lines]
        self._lines = outside
        option = "" if unroll is None else f" {{pipe.unroll = {str(unroll).lower()}}}"
        self._emit("}" + option)
        return [Value(f"{results.name}#{number}", argument.shape, argument.element)
                for number, argument in enumerate(arguments)]

    def slice_at(self, name, value, dimension, index):
        """The slice of `value` with the number `index` along `dimension`, which goes."""
        shape = [size for dim, size in enumerate(value.shape) if dim != dimension]
        result = self._define(name, shape, value.element)
        self._emit(f"{result} = tensor.extract_slice "
                   f"{value}{self._place(value, dimension, index)} "
                   f": {value.type} to {result.type}")
        return result

    def insert_at(self, name, value, into, dimension, index):
        """`into` with `value` as its slice with the number `index` along `dimension`."""
        result = self._define(name, into.shape, into.element)
        self._emit(f"{result} = tensor.insert_slice {value} into "
                   f"{into}{self._place(into, dimension, index)} "
                   f": {value.type} into {into.type}")
        return result

    @staticmethod
    def _place(value, dimension, index):
        rank = range(len(value.shape))
        offsets = ", ".join(index if dim == dimension else "0" for dim in rank)
        sizes = [1 if dim == dimension else value.shape[dim] for dim in rank]
        return f"[{offsets}] {sizes} {[1 for _ in rank]}"

    # The finished text

    def text(self, result, header, metrics=None):
        """The module: comment block, map aliases, the function that returns `result`.

        `metrics` maps names to further results; without a `result` these are all.
        """
        values = [*([result] if result else []), *(metrics or {}).values()]
        types = ", ".join(value.type for value in values)
        returned = result.type if result else ""
        if metrics:
            named = [f'{value.type} {{pipe.metric = "{name}"}}' for name, value in metrics.items()]
            returned = f"({', '.join([*([returned] if result else []), *named])})"
        lines = [f"// {line}".rstrip() for line in header] + [""]
        lines += [f"{alias} = {body}" for alias, body in sorted(self._maps.items())]
        lines += ["", f"func.func @{self._name}("]
        lines += [f"    {argument}," for argument in self._arguments[:-1]]
        lines += [f"    {self._arguments[-1]}", f") -> {returned} {{"]
        lines += [f"  {name} = arith.constant {literal} : {element}"
                  for (literal, element), name in self._constants.items()]
        lines += [f"  {line}".rstrip() for line in self._lines]
        lines += [f"  return {', '.join(map(str, values))} : {types}", "}", ""]
        return "\n".join(lines)


# Activations: bodies of one elementwise op


def _gelu_tanh(b, x):
    square = b.op("square", "arith.mulf", x, x)
    cube = b.op("cube", "arith.mulf", square, x)
    cubic = b.op("cubic", "arith.mulf", cube, b.constant(0.044715))
    inner = b.op("inner", "arith.addf", x, cubic)
    argument = b.op("argument", "arith.mulf", inner, b.constant(math.sqrt(2.0 / math.pi)))
    return _half_gate(b, x, b.op("bent", "math.tanh", argument))


def _gelu_erf(b, x):
    argument = b.op("argument", "arith.mulf", x, b.constant(math.sqrt(0.5)))
    return _half_gate(b, x, b.op("bent", "math.erf", argument))


def _half_gate(b, x, bent):
    gate = b.op("gate", "arith.addf", bent, b.constant(1.0))
    half = b.op("half", "arith.mulf", x, b.constant(0.5))
    return b.op("gelu", "arith.mulf", half, gate)


def _silu(b, x):
    negated = b.op("negated", "arith.negf", x)
    power = b.op("power", "math.exp", negated)
    denominator = b.op("denominator", "arith.addf", power, b.constant(1.0))
    return b.op("silu", "arith.divf", x, denominator)


def _relu(b, x):
    return b.op("relu", "arith.maximumf", x, b.constant(0.0))


# The command line of a generator


def positive(text):
    """An argparse type: an integer of at least one."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a positive integer, found '{text}'")
    return value
