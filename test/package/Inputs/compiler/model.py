"""Writes a model of two layers, whose activation is the op act.softsign or is spelled out in upstream's ops."""

import sys

ACTIVATIONS = {
    "act": "%a0 = act.softsign %p0 : tensor<8x16xf32>",
    "upstream": """%one = arith.constant dense<1.0> : tensor<8x16xf32>
  %size = math.absf %p0 : tensor<8x16xf32>
  %below = arith.addf %one, %size : tensor<8x16xf32>
  %a0 = arith.divf %p0, %below : tensor<8x16xf32>""",
}

print(f"""func.func @net(%x: tensor<8x4xf32> {{pipe.batch = "x"}}, %y: tensor<8x1xf32> {{pipe.batch = "y"}},
    %w0: tensor<4x16xf32> {{pipe.param = #pipe.param<"w0", init = normal(0.0, 0.5)>}},
    %w1: tensor<16x1xf32> {{pipe.param = #pipe.param<"w1", init = normal(0.0, 0.5)>}}) -> tensor<f32> {{
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<8x16xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<8x16xf32>) -> tensor<8x16xf32>
  %p0 = linalg.matmul ins(%x, %w0 : tensor<8x4xf32>, tensor<4x16xf32>) outs(%z0 : tensor<8x16xf32>) -> tensor<8x16xf32>
  {ACTIVATIONS[sys.argv[1]]}
  %h = pipe.boundary %a0 : tensor<8x16xf32>
  %e1 = tensor.empty() : tensor<8x1xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x1xf32>) -> tensor<8x1xf32>
  %p1 = linalg.matmul ins(%h, %w1 : tensor<8x16xf32>, tensor<16x1xf32>) outs(%z1 : tensor<8x1xf32>) -> tensor<8x1xf32>
  %d = arith.subf %p1, %y : tensor<8x1xf32>
  %s = arith.mulf %d, %d : tensor<8x1xf32>
  %e2 = tensor.empty() : tensor<f32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce ins(%s : tensor<8x1xf32>) outs(%z2 : tensor<f32>) dimensions = [0, 1]
    (%value: f32, %sum: f32) {{
      %next = arith.addf %value, %sum : f32
      linalg.yield %next : f32
    }}
  return %loss : tensor<f32>
}}""")
