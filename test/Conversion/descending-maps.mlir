// RUN: not veeline-opt %s --pipe-bufferize-chunks 2>&1 | FileCheck %s
// CHECK: error: lowering to loops needs indexing maps that do not descend, found affine_map<(d0) -> (-d0 + 3)>; read the reversed operand by linalg.index and tensor.extract

// In a model, --pipe-partition does so (test/Autodiff/maps.mlir).
func.func @net(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i) -> (3 - i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]
  } ins(%w, %x : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
