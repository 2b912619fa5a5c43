# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model that squares N times, by one op each that uses its operand twice."""

import sys

count = int(sys.argv[1])
print('func.func @net(%x: tensor<4x8xf32> {pipe.batch = "x"}, %w: tensor<8x8xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {')
print("  %zero = arith.constant 0.0 : f32\n  %e = tensor.empty() : tensor<4x8xf32>")
print("  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>")
print("  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%c : tensor<4x8xf32>) -> tensor<4x8xf32>")
for i in range(count):
    print(f"  %{i + 1} = arith.mulf %{i}, %{i} : tensor<4x8xf32>")
print("  %s = tensor.empty() : tensor<f32>\n  %z = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>")
print(f"  %loss = linalg.reduce ins(%{count} : tensor<4x8xf32>) outs(%z : tensor<f32>) dimensions = [0, 1]")
print("    (%in: f32, %out: f32) { %a = arith.addf %in, %out : f32 linalg.yield %a : f32 }")
print("  return %loss : tensor<f32>\n}")
