#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the forward pass and loss of a decoder-only GPT of any size as MLIR."""

import argparse
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from linalg_text import (ACTIVATIONS, FLOATS, SMALL_TYPES, Function, Length,  # noqa: E402
                         float_literal, positive)
from output_file import write_output  # noqa: E402

NORM_EPSILON = 1e-5
ROTARY_BASE = 10000.0
INIT_DEVIATION = 0.02
# Wider tokens and narrower positions than GPT-2's 0.02 save a short run the many steps
# that it takes to hear the token above the position. A tied table is the head as well,
# where wide entries would make the first predictions wild.
TOKEN_DEVIATION = 0.15
POSITION_DEVIATION = 0.005


def normal(deviation):
    return f"normal(0.0, {float_literal(deviation, 'f64')})"


class Gpt:
    """One function: tokens [B, T] and labels [B, T] to the mean cross entropy.

    Or, to infer, tokens alone to the logits [B, T, vocabulary].

    Activations are matrices [B*T, width], so that every projection is a plain
    matmul; only attention works on [B*heads, T, head width]. With a type of 16 bits
    parameters, the residual stream, norms, softmax and the loss are f32; what products
    take and give is rounded, as PyTorch's autocast does it.
    """

    def __init__(self, config):
        self.c = config
        element = "f32" if config.type in SMALL_TYPES else config.type
        self.f = Function("gpt", element, config.type)
        self.sequence = Length(config.sequence) if config.dynamic_length else config.sequence
        self.head_width = config.width // config.heads
        self.hidden = config.mlp_ratio * config.width

    def build(self):
        """Returns the finished module as text."""
        c, f = self.c, self.f
        grid = (c.microbatch_size, self.sequence)
        self.tokens = f.batch("tokens", grid, "i32")
        self.labels = None if c.logits else f.batch("labels", grid, "i32")
        if c.packed:
            self.documents = f.batch("documents", grid, "i32")
            self.positions = f.batch("positions", grid, "i32")
            self.inside = None if c.logits else f.batch("inside", grid, "i32")
        self._parameters()
        if c.dynamic_length:
            f.take_length(self.tokens, 1)

        x = self._embedding()
        if c.position == "rotary":
            self._rotary_tables()
        early = None
        for layer in range(c.layers):
            if layer > 0 and c.boundaries:
                x = f.boundary(f"h{layer}_in", x)
            x = self._layer(f"h{layer}", x)
            early = early or x
        if c.skip_edge:
            f.comment("Skip edge: the first layer's output once more")
            x = f.add("skip", x, early)
        f.comment("Head")
        x = self._norm("norm", x)
        if c.tied:
            logits = f.matmul("logits", x, self.p["wte"], transpose_right=True)
        else:
            logits = f.matmul("logits", x, self.p["head.weight"])
        if c.logits:
            apart = f.expand("logits_apart", f.extended(logits), [[0, 1], [2]],
                             (*grid, c.vocabulary))
            return f.text(None, self._header(), {"logits": apart})
        f.comment("Mean cross entropy")
        rows = f.collapse("label_rows", self.labels, [[0, 1]])
        ignored = c.ignore_label
        if c.packed:
            # No label is that of another document; which number stands for it has no effect.
            f.count_where(f.collapse("inside_rows", self.inside, [[0, 1]]))
            ignored = -1
        loss = f.cross_entropy(logits, rows, ignored)
        return f.text(loss, self._header(), self._metrics(rows, ignored))

    def _metrics(self, labels, ignored):
        c, f = self.c, self.f
        metrics = {}
        if c.tokens:
            f.comment("Labels that count")
            metrics["tokens"] = f.count_labels(labels, ignored)
        if c.accuracy:
            f.comment("Share of labels that are the most probable tokens")
            metrics["accuracy"] = f.accuracy(labels, ignored)
        return metrics

    # Parameters

    def _parameters(self):
        c, f = self.c, self.f
        self.p = {}
        weight = normal(INIT_DEVIATION)
        # Each layer adds to the residual stream twice: GPT-2 keeps the sum's variance.
        residual = normal(INIT_DEVIATION / math.sqrt(2 * c.layers))

        def parameter(name, shape, init):
            self.p[name] = f.parameter(name, shape, init)

        def linear(name, inputs, outputs, init):
            parameter(name + ".weight", (inputs, outputs), init)
            parameter(name + ".bias", (outputs,), "zeros")

        def norm(name):
            parameter(name + ".weight", (c.width,), "ones")
            if c.norm == "layer":
                parameter(name + ".bias", (c.width,), "zeros")

        parameter("wte", (c.vocabulary, c.width),
                  normal(INIT_DEVIATION if c.tied else TOKEN_DEVIATION))
        if c.position == "learned":
            parameter("wpe", (c.sequence, c.width), normal(POSITION_DEVIATION))
        for layer in range(c.layers):
            h = f"h{layer}."
            norm(h + "norm1")
            linear(h + "attn.qkv", c.width, 3 * c.width, weight)
            linear(h + "attn.proj", c.width, c.width, residual)
            norm(h + "norm2")
            linear(h + "mlp.up", c.width, self.hidden, weight)
            linear(h + "mlp.down", self.hidden, c.width, residual)
        norm("norm")
        if not c.tied:
            parameter("head.weight", (c.width, c.vocabulary), weight)

    def _weight_and_bias(self, name):
        return self.p[name + ".weight"], self.p[name + ".bias"]

    # The model

    def _embedding(self):
        c, f = self.c, self.f
        table = self.p["wte"]
        f.comment("Embedding")

        def look_up(b, token):
            row = b.line("row", f"arith.index_cast {token} : i32 to index")
            column = b.index("column", 2)
            return b.line("entry", f"tensor.extract {table}[{row}, {column}] : {table.type}")

        shape = (c.microbatch_size, self.sequence, c.width)
        x = f.generic("embedded", {"token": (self.tokens, [0, 1])}, shape, look_up)
        if c.packed:
            table = self.p["wpe"]
            positioned = f.generic("position", {"place": (self.positions, [0, 1])}, shape, look_up)
            x = f.add("positioned", x, positioned)
        elif c.position == "learned":
            positions = self.p["wpe"]
            if c.dynamic_length:
                positions = f.slice("positions", positions, 0, 0, self.sequence)
            x = f.generic("positioned", {"in": x, "position": (positions, [1, 2])}, shape,
                          lambda b, x, y: b.op("sum", "arith.addf", x, y))
        return f.collapse("stream", x, [[0, 1], [2]])

    def _layer(self, h, x):
        f = self.f
        f.comment(f"Layer {h[1:]}")
        attended = self._attention(h, self._norm(h + ".norm1", x))
        x = f.add(h + "_attn_out", x, attended)
        up = f.linear(h + "_mlp_up", self._norm(h + ".norm2", x),
                      *self._weight_and_bias(h + ".mlp.up"))
        active = f.activation(h + "_mlp_active", up, self.c.activation)
        down = f.linear(h + "_mlp_down", active, *self._weight_and_bias(h + ".mlp.down"))
        return f.add(h + "_out", x, down)

    def _norm(self, name, x):
        f = self.f
        stem = name.replace(".", "_")
        if self.c.norm == "layer":
            mean = f.divide_by(stem + "_mean", f.reduce(stem + "_sum", x, "sum"), self.c.width)
            x = f.generic(stem + "_centered", {"in": x, "mean": (mean, [0])}, x.shape,
                          lambda b, x, mean: b.op("centered", "arith.subf", x, mean))
        squares = f.reduce(stem + "_square_sum", f.square(stem + "_square", x), "sum")
        variance = f.divide_by(stem + "_variance", squares, self.c.width)

        def inverse(b, variance):
            stable = b.op("stable", "arith.addf", variance, b.constant(NORM_EPSILON))
            return b.op("inverse", "math.rsqrt", stable)

        scale = f.generic(stem + "_scale", {"variance": variance}, variance.shape, inverse)
        inputs = {"in": x, "scale": (scale, [0]), "weight": (self.p[name + ".weight"], [1])}
        if self.c.norm == "layer":
            inputs["bias"] = (self.p[name + ".bias"], [1])

        def apply(b, x, scale, weight, bias=None):
            normed = b.op("normed", "arith.mulf", x, scale)
            weighted = b.op("weighted", "arith.mulf", normed, weight)
            return b.op("shifted", "arith.addf", weighted, bias) if bias else weighted

        # Only products read it.
        return f.generic(stem + "_y", inputs, x.shape, apply, f.product_type)

    def _attention(self, h, x):
        c, f = self.c, self.f
        h += "_attn"
        name = h.replace("_", ".")
        qkv = f.linear(h + "_qkv", x, *self._weight_and_bias(name + ".qkv"))
        split = f.expand(h + "_split", qkv, [[0, 1], [2, 3, 4]],
                         (c.microbatch_size, self.sequence, 3, c.heads, self.head_width))
        # With q, k and v outermost, each is a contiguous slice.
        heads = f.transpose(h + "_heads", split, (2, 0, 3, 1, 4))

        def part(letter, number):
            one = f.slice(f"{h}_{letter}_heads", heads, 0, number, 1, drop=True)
            return f.collapse(f"{h}_{letter}", one, [[0, 1], [2], [3]])

        q, k, v = (part(letter, number) for number, letter in enumerate("qkv"))
        if c.position == "rotary":
            q, k = self._rotate(h + "_q", q), self._rotate(h + "_k", k)
        weights = self._causal_softmax(h, f.batch_matmul(h + "_scores", q, k, transpose_right=True))
        context = f.batch_matmul(h + "_context", weights, v)
        apart = f.expand(h + "_apart", context, [[0, 1], [2], [3]],
                         (c.microbatch_size, c.heads, self.sequence, self.head_width))
        joined = f.transpose(h + "_joined", apart, (0, 2, 1, 3))
        rows = f.collapse(h + "_rows", joined, [[0, 1], [2, 3]])
        return f.linear(h + "_proj", rows, *self._weight_and_bias(name + ".proj"))

    def _causal_softmax(self, h, scores):
        f = self.f

        # Minus infinity is exact in every float type: a row always sees itself, so its
        # maximum is finite and exp gives the masked ones exactly zero.
        def mask(b, score):
            scaled = b.op("scaled", "arith.mulf", score,
                          b.constant(1.0 / math.sqrt(self.head_width)))
            query, key = b.index("query", 1), b.index("key", 2)
            seen = b.line("seen", f"arith.cmpi sle, {key}, {query} : index")
            if self.c.packed:
                seen = self._of_one_document(b, query, key, seen)
            hidden = b.constant(-math.inf)
            return b.line("masked", f"arith.select {seen}, {scaled}, {hidden} : {f.element}")

        masked = f.generic(h + "_masked", {"score": scores}, scores.shape, mask)
        power, total = f.exp_and_sum(h, masked)[1:]
        return f.generic(h + "_weights", {"power": power, "total": (total, [0, 1])}, scores.shape,
                         lambda b, power, total: b.op("weight", "arith.divf", power, total),
                         f.product_type)

    def _of_one_document(self, b, query, key, seen):
        """Whether a key is of the query's document, and seen."""
        heads = b.line("heads", f"arith.constant {self.c.heads} : index")
        sample = b.line("sample", f"arith.divui {b.index('batch', 0)}, {heads} : index")
        of_query, of_key = (
            b.line(name, f"tensor.extract {self.documents}[{sample}, {token}] : {self.documents.type}")
            for name, token in (("of_query", query), ("of_key", key)))
        same = b.line("same", f"arith.cmpi eq, {of_query}, {of_key} : i32")
        return b.line("seen_of_it", f"arith.andi {seen}, {same} : i1")

    def _rotary_tables(self):
        """Cosine and sine of position * base^(-2j/D), which depend on no argument."""
        f = self.f
        shape = (self.sequence, self.head_width // 2)

        def angle(b):
            def as_float(name, dimension):
                index = b.index(name + "_index", dimension)
                integer = b.line(name + "_i32", f"arith.index_cast {index} : index to i32")
                return b.line(name, f"arith.sitofp {integer} : i32 to {f.element}")

            step = b.constant(-2.0 * math.log(ROTARY_BASE) / self.head_width)
            exponent = b.op("exponent", "arith.mulf", as_float("pair", 1), step)
            frequency = b.op("frequency", "math.exp", exponent)
            return b.op("angle", "arith.mulf", as_float("position", 0), frequency)

        f.comment("Rotary position tables")
        self.cosine = f.generic("rotary_cos", {}, shape,
                                lambda b: b.op("cosine", "math.cos", angle(b)))
        self.sine = f.generic("rotary_sin", {}, shape,
                              lambda b: b.op("sine", "math.sin", angle(b)))

    def _rotate(self, stem, x):
        """Rotates the pairs (j, j + D/2) of each head by the position's angle."""
        f = self.f
        half = self.head_width // 2
        first = f.slice(stem + "_first", x, 2, 0, half)
        second = f.slice(stem + "_second", x, 2, half, half)

        def rotated(name, opcode, straight, crossed):
            def compute(b, straight, crossed, cosine, sine):
                kept = b.op("kept", "arith.mulf", straight, cosine)
                turned = b.op("turned", "arith.mulf", crossed, sine)
                return b.op("rotated", opcode, kept, turned)

            inputs = {"straight": straight, "crossed": crossed,
                      "cosine": (self.cosine, [1, 2]), "sine": (self.sine, [1, 2])}
            return f.generic(name, inputs, first.shape, compute, x.element)

        return f.concat(stem + "_rotated",
                        [rotated(stem + "_first_rotated", "arith.subf", first, second),
                         rotated(stem + "_second_rotated", "arith.addf", second, first)], 2)

    def _header(self):
        c = self.c
        extras = [text for flag, text in ((c.packed, "packed documents"), (c.skip_edge, "skip edge"),
                                          (c.boundaries, "boundaries")) if flag]
        return [
            "A decoder-only GPT: " + ("logits" if c.logits else "forward and mean cross entropy")
            + " of one microbatch.",
            f"layers {c.layers}, width {c.width}, heads {c.heads}, MLP width {self.hidden}, "
            f"vocabulary {c.vocabulary}, {c.type}",
            f"a microbatch has {c.microbatch_size} x {c.sequence} tokens"
            + (" at most" if c.dynamic_length else ""),
            ", ".join([f"{c.norm} norm", c.activation, f"{c.position} positions",
                       f"{'tied' if c.tied else 'untied'} head", *extras]),
            f"{self.f.parameter_count} parameters",
        ]


def make_parser():
    parser = argparse.ArgumentParser(description=__doc__)

    def size(option, default, text):
        parser.add_argument(option, type=positive, default=default, metavar="N",
                            help=f"{text} (default: {default})")

    def choice(option, choices, default, text):
        parser.add_argument(option, choices=choices, default=default,
                            help=f"{text} (default: {default})")

    size("--layers", 8, "transformer layers")
    size("--width", 320, "width of the residual stream")
    size("--heads", 5, "attention heads, which divide the width")
    size("--mlp-ratio", 4, "hidden width of the MLP in multiples of the width")
    size("--sequence", 128, "tokens in a sequence")
    parser.add_argument("--dynamic-length", action="store_true",
                        help="sequences may be shorter than --sequence")
    size("--vocabulary", 256, "different tokens")
    size("--microbatch-size", 4, "sequences in a microbatch")
    head = parser.add_mutually_exclusive_group()
    head.add_argument("--tied", action="store_true", help="the head shares the embedding's table")
    head.add_argument("--untied", dest="tied", action="store_false",
                      help="the head has its own weights (default)")
    choice("--norm", ("layer", "rms"), "layer", "normalisation")
    choice("--activation", ACTIVATIONS, "gelu-tanh", "nonlinearity of the MLP")
    choice("--position", ("learned", "rotary"), "learned", "how a token knows its position")
    choice("--type", FLOATS, "f32",
           "type of parameters and activations; of bf16 and f16 parameters are f32, and so is "
           "everything but matrix products, attention and what lies between them")
    parser.add_argument("--boundaries", action="store_true",
                        help="put a pipe.boundary between layers")
    parser.add_argument("--skip-edge", action="store_true",
                        help="add the first layer's output again after the last layer")
    parser.add_argument("--ignore-label", type=int, metavar="N",
                        help="labels that are N do not count; the loss is the mean over the others")
    parser.add_argument("--packed", action="store_true",
                        help="documents follow one another in a sequence: of each token, documents has "
                        "the number of its document, positions its place there, and inside is 0 where "
                        "its label is of another one and does not count")
    parser.add_argument("--tokens", action="store_true",
                        help="return the metric 'tokens', the number of labels that count")
    parser.add_argument("--accuracy", action="store_true",
                        help="return the metric 'accuracy', the share of labels that are the most "
                        "probable tokens")
    parser.add_argument("--logits", action="store_true",
                        help="return the logits instead of the loss, to infer: there are no labels")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE, not to standard output")
    return parser


def parse_arguments(arguments):
    """The configuration, checked; exits with a message where no such model exists."""
    parser = make_parser()
    config = parser.parse_args(arguments)
    if config.width % config.heads:
        parser.error(f"--width {config.width} is not divisible by --heads {config.heads}")
    if config.position == "rotary" and config.width // config.heads % 2:
        parser.error(f"--position rotary rotates pairs: the head width "
                     f"{config.width // config.heads} (--width / --heads) must be even")
    ignored = config.ignore_label
    if ignored is not None and not 0 <= ignored < config.vocabulary:
        parser.error(f"--ignore-label {ignored} is no token: there are {config.vocabulary} "
                     "(--vocabulary), from 0 on")
    for flag, option in ((config.dynamic_length, "--dynamic-length"),
                         (config.position == "rotary", "--position rotary"),
                         (ignored is not None, "--ignore-label")):
        if config.packed and flag:
            parser.error(f"--packed does not go with {option}: leave one of them out")
    if config.logits and (config.accuracy or config.tokens or ignored is not None):
        parser.error("--accuracy, --tokens and --ignore-label are about labels, which --logits "
                     "does without")
    if config.skip_edge and config.layers < 2:
        parser.error(f"--skip-edge needs at least 2 --layers, found {config.layers}")
    return config


def build(config):
    """The model of `config` as MLIR text."""
    return Gpt(config).build()


def main():
    config = parse_arguments(sys.argv[1:])
    write_output(config.output, build(config).encode())


if __name__ == "__main__":
    main()
