// RUN: veeline-opt %s --pipe-separate-joint --pipe-partition=stages=2 --verify-diagnostics -o /dev/null

// A part of v's gradient that only chunk 0 has, which does not use v.
func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>},
               %v: tensor<4xf32> {pipe.param = #pipe.param<"v", init = ones>})
    -> (tensor<f32>, tensor<4xf32> {pipe.gradient_of = "w"}, tensor<4xf32> {pipe.gradient_of = "v"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  // expected-error @below {{this part of a parameter's gradient is computed in chunk 0, but no chunk up to there uses the parameter; cut elsewhere}}
  %h = arith.mulf %w, %x : tensor<4xf32>
  %t = math.tanh %h : tensor<4xf32>
  %b = pipe.boundary %t : tensor<4xf32>
  %p = arith.mulf %b, %v : tensor<4xf32>
  %loss = linalg.dot ins(%p, %b : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %g0 = arith.mulf %p, %b : tensor<4xf32>
  %gw = arith.mulf %g0, %x : tensor<4xf32>
  %gv = arith.addf %g0, %h : tensor<4xf32>
  return %loss, %gw, %gv : tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
