# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a small model of text: examples/gpt without attention and without norms.

Takes the options of examples/gpt/generate.py; those of attention, of norms and of the MLP's width have no effect. It has what a GPT has for
the runtime: tokens and labels, stages that are alike, residual streams, a table that may be tied, lengths that may vary. It compiles in less
than half of the time, and is for tests that are about orders, messages, processes, memory or files, and not about the ops of a model.
"""

import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples/gpt"))
import generate  # noqa: E402


class Text(generate.Gpt):
    """A layer adds to the stream twice, as that of a GPT does: relu(x) V, and activation(x) W + b.

    What a product reads is never the stream itself. So no gradient of the stream begins with that of another reader, and bits do not
    depend on where the model is cut.
    """

    def _parameters(self):
        c, f = self.c, self.f
        self.p = {}

        def parameter(name, shape, init):
            self.p[name] = f.parameter(name, shape, init)

        weight = generate.normal(generate.INIT_DEVIATION)
        # Nothing normalises the stream: it begins with gradients of the size that a GPT has. A tied table is the head as well.
        parameter("wte", (c.vocabulary, c.width), generate.normal(0.3 if c.tied else 0.75))
        parameter("wpe", (c.sequence, c.width), generate.normal(generate.POSITION_DEVIATION))
        for layer in range(c.layers):
            for part in ("attn", "mlp"):
                parameter(f"h{layer}.{part}.weight", (c.width, c.width), generate.normal(0.5 / math.sqrt(c.width)))
            parameter(f"h{layer}.mlp.bias", (c.width,), "zeros")
        if not c.tied:
            parameter("head.weight", (c.width, c.vocabulary), weight)

    def _layer(self, h, x):
        f = self.f
        f.comment(f"Layer {h[1:]}")
        attn = f.matmul(h + "_attn", f.activation(h + "_attn_active", x, "relu"), self.p[h + ".attn.weight"])
        x = f.add(h + "_attn_out", x, attn)
        active = f.activation(h + "_mlp_active", x, self.c.activation)
        return f.add(h + "_out", x, f.linear(h + "_mlp", active, *self._weight_and_bias(h + ".mlp")))

    def _norm(self, name, x):
        return x

    def _header(self):
        return [f"A model of text without attention: {self.c.layers} layers of width {self.c.width}."]


def main():
    config = generate.parse_arguments(sys.argv[1:])
    generate.write_output(config.output, Text(config).build().encode())


if __name__ == "__main__":
    main()
