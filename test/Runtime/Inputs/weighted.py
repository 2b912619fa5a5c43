# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model whose microbatches count differently, and what its step has to be.

Usage:
  weighted.py model ROWS TYPE            Writes the model for microbatches of ROWS samples.
  weighted.py near A.safetensors B.safetensors DISTANCE
                                         Compares parameters of f64: each differs by DISTANCE at most, relative to the
                                         largest one of its tensor.

The loss is the mean over rows whose mask is not 0 of squares of a product; `rows` is how many those are.
"""

import json
import struct
import sys

MODEL = """
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#none = affine_map<(i, j) -> ()>
func.func @weighted(%x: tensor<ROWSx4xTYPE> {pipe.batch = "x"}, %mask: tensor<ROWSxi32> {pipe.batch = "mask"},
                    %w: tensor<4x4xTYPE> {pipe.param = #pipe.param<"w", init = uniform(-0.7, 0.7)>},
                    %v: tensor<4x4xTYPE> {pipe.param = #pipe.param<"v", init = uniform(-0.7, 0.7)>})
    -> (tensor<TYPE>, tensor<TYPE> {pipe.metric = "rows"}) {
  %zero = arith.constant 0.0 : TYPE
  %one = arith.constant 1.0 : TYPE
  %none = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<ROWSx4xTYPE>
  %init = linalg.fill ins(%zero : TYPE) outs(%empty : tensor<ROWSx4xTYPE>) -> tensor<ROWSx4xTYPE>
  %h = linalg.matmul ins(%x, %w : tensor<ROWSx4xTYPE>, tensor<4x4xTYPE>) outs(%init : tensor<ROWSx4xTYPE>) -> tensor<ROWSx4xTYPE>
  %t = math.tanh %h : tensor<ROWSx4xTYPE>
  %y = linalg.matmul ins(%t, %v : tensor<ROWSx4xTYPE>, tensor<4x4xTYPE>) outs(%init : tensor<ROWSx4xTYPE>) -> tensor<ROWSx4xTYPE>
  %scalar = tensor.empty() : tensor<TYPE>
  %start = linalg.fill ins(%zero : TYPE) outs(%scalar : tensor<TYPE>) -> tensor<TYPE>
  %sum = linalg.generic {indexing_maps = [#ij, #i, #none], iterator_types = ["reduction", "reduction"]}
      ins(%y, %mask : tensor<ROWSx4xTYPE>, tensor<ROWSxi32>) outs(%start : tensor<TYPE>) {
  ^bb0(%a: TYPE, %m: i32, %s: TYPE):
    %square = arith.mulf %a, %a : TYPE
    %counts = arith.cmpi ne, %m, %none : i32
    %kept = arith.select %counts, %square, %zero : TYPE
    %next = arith.addf %s, %kept : TYPE
    linalg.yield %next : TYPE
  } -> tensor<TYPE>
  %rows = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%mask : tensor<ROWSxi32>) outs(%start : tensor<TYPE>) {
  ^bb0(%m: i32, %s: TYPE):
    %counts = arith.cmpi ne, %m, %none : i32
    %add = arith.select %counts, %one, %zero : TYPE
    %next = arith.addf %s, %add : TYPE
    linalg.yield %next : TYPE
  } -> tensor<TYPE>
  %ones = linalg.fill ins(%one : TYPE) outs(%scalar : tensor<TYPE>) -> tensor<TYPE>
  %least = arith.maximumf %rows, %ones : tensor<TYPE>
  %loss = arith.divf %sum, %least : tensor<TYPE>
  return %loss, %rows : tensor<TYPE>, tensor<TYPE>
}
"""


def read(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        assert entry["dtype"] == "F64", name
        begin, end = entry["data_offsets"]
        tensors[name] = struct.unpack(f"<{(end - begin) // 8}d", data[begin:end])
    return tensors


def compare(first, second, distance):
    farthest = 0.0
    for name, values in first.items():
        size = max(map(abs, second[name]))
        farthest = max(farthest, *(abs(a - b) / size for a, b in zip(values, second[name])))
    if not farthest <= distance:
        sys.exit(f"parameters differ by {farthest}")
    print(f"parameters differ by {farthest:.1e} at most")


def main():
    if sys.argv[1] == "model":
        print(MODEL.replace("ROWS", sys.argv[2]).replace("TYPE", sys.argv[3]))
    else:
        compare(read(sys.argv[2]), read(sys.argv[3]), float(sys.argv[4]))


if __name__ == "__main__":
    main()
