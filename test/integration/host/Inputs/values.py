"""Writes a model with weights that have values, and the same one without them.

values.py DIRECTORY          writes the models and their data
values.py DIRECTORY compare  compares what training saved with the values
"""

import json
import pathlib
import random
import struct
import sys

from models import npy

random.seed(1)
W0 = [random.gauss(0, 1) for _ in range(4 * 8)]
HALF = [random.gauss(0, 1) for _ in range(8 * 6)]
SMALL = [random.gauss(0, 1) for _ in range(6 * 5)]
SMALL[:4] = [0.0, -(2.0**-24), 1023 * 2.0**-24, -65504.0]
BIAS = [random.gauss(0, 1) for _ in range(5)]


def f32(values):
    return struct.pack(f"<{len(values)}f", *values)


def bf16(values):
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def f16(values):
    return struct.pack(f"<{len(values)}e", *values)


def widened(name):
    """What the parameter starts from, as bytes of f32."""
    if name == "half":
        data = bf16(HALF)
        return b"".join(b"\0\0" + data[i : i + 2] for i in range(0, len(data), 2))
    if name == "small":
        return f32(struct.unpack(f"<{len(SMALL)}e", f16(SMALL)))
    return f32({"weight0": W0, "bias": BIAS}[name])


def resource(data, alignment):
    return '"0x' + (struct.pack("<I", alignment) + data).hex().upper() + '"'


MODEL = """
ml_program.global private @bias({bias} : tensor<5xf32>) : tensor<5xf32>
func.func @net(%x: tensor<3x4xf32>) -> tensor<3x5xf32> {{
  %w0 = arith.constant {w0} : tensor<4x8xf32>
  %w1 = arith.constant {half} : tensor<8x6xbf16> {half_name}
  %w2 = arith.constant {small} : tensor<6x5xf16> {small_name}
  %b = ml_program.global_load_const @bias : tensor<5xf32>
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<3x8xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<3x8xf32>) -> tensor<3x8xf32>
  %h0 = linalg.matmul ins(%x, %w0 : tensor<3x4xf32>, tensor<4x8xf32>) outs(%z0 : tensor<3x8xf32>) -> tensor<3x8xf32>
  %t0 = math.tanh %h0 : tensor<3x8xf32>
  %f1 = arith.extf %w1 : tensor<8x6xbf16> to tensor<8x6xf32>
  %e1 = tensor.empty() : tensor<3x6xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x6xf32>) -> tensor<3x6xf32>
  %h1 = linalg.matmul ins(%t0, %f1 : tensor<3x8xf32>, tensor<8x6xf32>) outs(%z1 : tensor<3x6xf32>) -> tensor<3x6xf32>
  %t1 = math.tanh %h1 : tensor<3x6xf32>
  %f2 = arith.extf %w2 : tensor<6x5xf16> to tensor<6x5xf32>
  %e2 = tensor.empty() : tensor<3x5xf32>
  %bias = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e2 : tensor<3x5xf32>) dimensions = [0]
  %y = linalg.matmul ins(%t1, %f2 : tensor<3x6xf32>, tensor<6x5xf32>) outs(%bias : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %y : tensor<3x5xf32>
}}
"""

RESOURCES = """
{{-#
  dialect_resources: {{
    builtin: {{
      half: {half},
      small: {small}
    }}
  }}
#-}}
"""


def write_models(directory):
    rows = ", ".join("[" + ", ".join(repr(w) for w in W0[i : i + 8]) + "]" for i in range(0, 32, 8))
    values = MODEL.format(w0=f"dense<[{rows}]>", bias=f'dense<"0x{f32(BIAS).hex()}">', half="dense_resource<half>",
                          small="dense_resource<small>", half_name="", small_name="")
    values += RESOURCES.format(half=resource(bf16(HALF), 2), small=resource(f16(SMALL), 2))
    (directory / "values.mlir").write_text(values)
    elided = "dense_resource<__elided__>"
    (directory / "elided.mlir").write_text(MODEL.format(w0=elided, bias=elided, half=elided, small=elided,
                                                        half_name='loc("half")', small_name='loc("small")'))
    npy.write(directory / "x.npy", "f32", [6, 4], [random.gauss(0, 1) for _ in range(24)])
    npy.write(directory / "labels.npy", "i32", [6], [0, 4, 1, 2, 3, 4])
    npy.write(directory / "wrong.npy", "i32", [6], [0, 4, 1, 5, 3, -1])


def compare(directory):
    data = (directory / "values.safetensors").read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    names = [name for name in header if name != "__metadata__"]
    assert sorted(names) == ["bias", "half", "small", "weight0"], names
    for name in names:
        begin, end = (8 + length + offset for offset in header[name]["data_offsets"])
        assert data[begin:end] == widened(name), name


directory = pathlib.Path(sys.argv[1])
if sys.argv[2:] == ["compare"]:
    compare(directory)
else:
    write_models(directory)
