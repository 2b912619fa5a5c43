# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executes a function of Veeline's input contract by upstream's tools alone.

`mlir-opt` lowers it to loops and LLVM, `mlir-runner` runs it: nothing of Veeline
takes part, so a result that is right here shows that the model file is right.
"""

import re
import shlex
import struct
import subprocess
import tempfile

ARGUMENT = re.compile(
    r'^ +%(?P<value>\w+): tensor<(?P<shape>(?:\d+x)*)(?P<element>\w+)> '
    r'\{pipe\.(?:batch = "|param = #pipe\.param<")(?P<name>[^"]+)"(?:, init = (?P<init>.*)>)?\}',
    re.MULTILINE)
PACK = {"f64": "d", "f32": "f", "i32": "i"}

# tensor.concat has no bufferization of its own upstream: it becomes insertions first.
DECOMPOSE = """
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%root: !transform.any_op) {
    %function = transform.structured.match ops{["func.func"]} in %root
      : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %function {
      transform.apply_patterns.tensor.decompose_concat
    } : !transform.any_op
    transform.yield
  }
}
"""

LOWERING = shlex.split(r"""
    --transform-interpreter
    --one-shot-bufferize=bufferize-function-boundaries\ allow-return-allocs-from-loops
    --convert-linalg-to-loops --expand-strided-metadata --lower-affine --convert-scf-to-cf
    --convert-math-to-llvm --convert-math-to-libm --convert-vector-to-llvm
    --convert-arith-to-llvm --convert-index-to-llvm --finalize-memref-to-llvm
    --convert-func-to-llvm --convert-cf-to-llvm --reconcile-unrealized-casts
""")


class Argument:
    """One argument of the function: its name in the contract, shape, type, initialiser."""

    def __init__(self, match):
        self.name = match["name"]
        self.shape = [int(size) for size in match["shape"].split("x")[:-1]]
        self.element = match["element"]
        self.init = match["init"]

    @property
    def type(self):
        return "tensor<" + "".join(f"{size}x" for size in self.shape) + self.element + ">"

    def literal(self, numbers):
        """All `numbers` in row-major order as an attribute that keeps every bit."""
        packed = struct.pack(f"<{len(numbers)}{PACK[self.element]}", *numbers)
        return f'dense<"0x{packed.hex().upper()}"> : {self.type}'


def arguments_of(text):
    """The arguments of the model `text`, in order."""
    return [Argument(match) for match in ARGUMENT.finditer(text)]


def upstream_text(text):
    """The model without what only Veeline knows: attributes go, a boundary becomes a cast."""
    text = re.sub(r" \{pipe\.(?:param|batch) = .*\}(,?)$", r"\1", text, flags=re.MULTILINE)
    return re.sub(r"pipe\.boundary (%\w+) : (.*)$", r"tensor.cast \1 : \2 to \2", text,
                  flags=re.MULTILINE)


def run(text, numbers, runner_utils):
    """The loss of the f64 model `text`, to the bit, for a flat list per argument's name."""
    function = re.search(r"func\.func @(\w+)", text)[1]
    arguments = arguments_of(text)
    lines = ["func.func private @printI64(i64)", "func.func @main() {"]
    lines += [f"  %a{i} = arith.constant {argument.literal(numbers[argument.name])}"
              for i, argument in enumerate(arguments)]
    names = ", ".join(f"%a{i}" for i in range(len(arguments)))
    types = ", ".join(argument.type for argument in arguments)
    lines += [f"  %loss = call @{function}({names}) : ({types}) -> tensor<f64>",
              "  %scalar = tensor.extract %loss[] : tensor<f64>",
              "  %bits = arith.bitcast %scalar : f64 to i64",
              "  call @printI64(%bits) : (i64) -> ()", "  return", "}", ""]
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as library:
        library.write(DECOMPOSE)
        library.flush()
        lowered = _tool(["mlir-opt", f"--transform-preload-library=transform-library-paths={library.name}",
                         *LOWERING], upstream_text(text) + "\n".join(lines))
    printed = _tool(["mlir-runner", "-e", "main", "--entry-point-result=void",
                     f"--shared-libs={runner_utils}"], lowered)
    return struct.unpack("<d", struct.pack("<q", int(printed)))[0]


def _tool(command, text):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[0]} failed with {done.returncode}:\n{done.stderr}")
    return done.stdout
