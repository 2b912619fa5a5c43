// RUN: veeline-opt %s --pipe-joint-graph | FileCheck %s

// The gradients of a loss, as results; the mark stays.

// CHECK-LABEL: func.func @net(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4xf32> {pipe.batch = "x"}, %[[W:.*]]: tensor<4x4xf32>
// CHECK-SAME:    -> (tensor<f32>, tensor<4x4xf32> {pipe.gradient_of = "w"}, tensor<2x4xf32> {pipe.gradient_of = "v"})
func.func @net(%x: tensor<2x4xf32> {pipe.batch = "x"}, %w: tensor<4x4xf32> {pipe.param = #pipe.param<"w", init = ones>},
               %v: tensor<2x4xf32> {pipe.param = #pipe.param<"v", init = ones>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  // CHECK: %[[SEED:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
  // CHECK: %[[H:.*]] = linalg.matmul ins(%[[X]], %[[W]]
  // CHECK: %[[MARK:.*]] = pipe.boundary %[[H]]
  %h = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
  %m = pipe.boundary %h : tensor<2x4xf32>
  %s = tensor.empty() : tensor<f32>
  %zs = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  // CHECK: %[[LOSS:.*]] = linalg.generic {{.*}} ins(%[[MARK]], %arg2
  %loss = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>],
    iterator_types = ["reduction", "reduction"]
  } ins(%m, %v : tensor<2x4xf32>, tensor<2x4xf32>) outs(%zs : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<f32>
  // CHECK: %[[DH:.*]] = linalg.generic {{.*}} ins(%arg2, %[[SEED]]
  // CHECK: %[[DV:.*]] = linalg.generic {{.*}} ins(%[[MARK]], %[[SEED]]
  // CHECK: %[[DW:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[DH]]
  // CHECK: return %[[LOSS]], %[[DW]], %[[DV]]
  return %loss : tensor<f32>
}
