#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the forward pass and mean squared error of a gated recurrent unit as MLIR.

The steps are a loop, `scf.for`, which carries the state and the outputs.
"""

import argparse
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from linalg_text import ELEMENT_TYPES, Function, float_literal, positive  # noqa: E402
from output_file import write_output  # noqa: E402


def sigmoid(b, name, x):
    power = b.op(name + "_power", "math.exp", b.op(name + "_negated", "arith.negf", x))
    denominator = b.op(name + "_denominator", "arith.addf", power, b.constant(1.0))
    return b.op(name, "arith.divf", b.constant(1.0), denominator)


def cell(f, inputs, state, parameters):
    """The state after one step: `inputs` [batch, in] and `state` [batch, hidden]."""
    input_weight, input_bias, state_weight, state_bias = parameters
    hidden = state.shape[1]
    of_input = f.linear("of_input", inputs, input_weight, input_bias)
    of_state = f.linear("of_state", state, state_weight, state_bias)
    # In the columns: the reset gate, the update gate, the candidate.
    parts = [[f.slice(f"{kind}_{part}", value, 1, number * hidden, hidden)
              for kind, value in (("input", of_input), ("state", of_state))]
             for number, part in enumerate(("reset", "update", "candidate"))]

    def gate(b, x, y):
        return sigmoid(b, "gate", b.op("sum", "arith.addf", x, y))

    def candidate(b, x, y, r):
        kept = b.op("kept", "arith.mulf", r, y)
        return b.op("bent", "math.tanh", b.op("sum", "arith.addf", x, kept))

    def mix(b, n, h, z):
        change = b.op("change", "arith.subf", h, n)
        return b.op("mixed", "arith.addf", n, b.op("part", "arith.mulf", z, change))

    shape = state.shape
    names = ("in", "recurrent")
    reset = f.generic("reset", dict(zip(names, parts[0])), shape, gate)
    update = f.generic("update", dict(zip(names, parts[1])), shape, gate)
    new = f.generic("new", {**dict(zip(names, parts[2])), "r": reset}, shape, candidate)
    return f.generic("next", {"n": new, "h": state, "z": update}, shape, mix)


def build(config):
    """One function: x [batch, steps, in] and y [batch, steps, out] to the mean squared error."""
    f = Function("gru", config.type)
    steps, batch, hidden = config.steps, config.microbatch_size, config.hidden
    inputs = f.batch("x", (batch, steps, config.inputs))
    target = f.batch("y", (batch, steps, config.outputs))
    bound = float_literal(1.0 / math.sqrt(hidden), "f64")
    init = f"uniform(-{bound}, {bound})"
    parameters = [f.parameter("input.weight", (config.inputs, 3 * hidden), init),
                  f.parameter("input.bias", (3 * hidden,), "zeros"),
                  f.parameter("state.weight", (hidden, 3 * hidden), init),
                  f.parameter("state.bias", (3 * hidden,), "zeros")]
    head = [f.parameter("head.weight", (hidden, config.outputs), init),
            f.parameter("head.bias", (config.outputs,), "zeros")]

    f.comment("The steps")
    zeros = f.fill("start", (batch, hidden), 0.0)
    outputs = f.empty("outputs_empty", (batch, steps, hidden))

    def step(t, state, states):
        following = cell(f, f.slice_at("x_now", inputs, 1, t), state, parameters)
        return following, f.insert_at("states_next", following, states, 1, t)

    _, states = f.loop(steps, {"state": zeros, "states": outputs}, step, config.unroll)

    f.comment("The head, for all steps at once")
    value = f.linear("head", f.collapse("states_rows", states, [[0, 1], [2]]), *head)

    f.comment("Mean squared error")
    rows = f.collapse("y_rows", target, [[0, 1], [2]])
    error = f.generic("error", {"in": value, "target": rows}, value.shape,
                      lambda b, x, y: b.op("difference", "arith.subf", x, y))
    squares = f.collapse("error_squares", f.square("error_square", error), [[0, 1]])
    loss = f.divide_by("loss", f.reduce("loss_sum", squares, "sum"), math.prod(value.shape))
    return f.text(loss, [
        "A gated recurrent unit: forward and mean squared error of one microbatch.",
        f"{steps} steps, {config.inputs} inputs, {hidden} hidden, {config.outputs} outputs, "
        f"{config.type}",
        f"a microbatch has {batch} sequences",
        f"{f.parameter_count} parameters",
    ])


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=positive, default=16,
                        help="length of a sequence (default: %(default)s)")
    parser.add_argument("--inputs", type=positive, default=8,
                        help="numbers that come in at each step (default: %(default)s)")
    parser.add_argument("--hidden", type=positive, default=32,
                        help="width of the state (default: %(default)s)")
    parser.add_argument("--outputs", type=positive, default=4,
                        help="numbers that go out at each step (default: %(default)s)")
    parser.add_argument("--microbatch-size", type=positive, default=8,
                        help="sequences in a microbatch (default: %(default)s)")
    parser.add_argument("--type", choices=ELEMENT_TYPES, default="f32",
                        help="float type (default: %(default)s)")
    parser.add_argument("--unroll", action=argparse.BooleanOptionalAction, default=None,
                        help="unroll the loop, or keep it, whatever its size "
                             "(default: by its size)")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to FILE, not to standard output")
    return parser.parse_args(arguments)


def main():
    config = parse_arguments(sys.argv[1:])
    write_output(config.output, build(config).encode())


if __name__ == "__main__":
    main()
