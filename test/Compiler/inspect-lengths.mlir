// A model with a dynamic dimension is printed for the length that --length-bound says; the error without one names the option.
// RUN: veeline inspect %s --length-bound 8 | FileCheck %s
// RUN: not veeline inspect %s 2>&1 | FileCheck %s --check-prefix=UNBOUND

// CHECK:   all 1 0.000
// UNBOUND: error: argument 0 ("x") of the model has a dynamic dimension: 'tensor<2x?x4xf32>'; say how long it may be, with --length-bound
func.func @sum(%x: tensor<2x?x4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %l = linalg.generic {indexing_maps = [affine_map<(a, b, c) -> (a, b, c)>, affine_map<(a, b, c) -> (c)>, affine_map<(a, b, c) -> ()>], iterator_types = ["reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x?x4xf32>, tensor<4xf32>) outs(%f : tensor<f32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %m = arith.mulf %in, %by : f32
    %s = arith.addf %out, %m : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %l : tensor<f32>
}
