// RUN: veeline-opt %s --pipe-import=loss=sum --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-import --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-import-results --split-input-file | FileCheck %s --check-prefix=PASS

// A gradient that the model returns beside its loss is left out. It reads x and w
// the other way round, which says nothing of which of them is trained.

// CHECK-LABEL: func.func @step
// CHECK-SAME: tensor<4x8xf32> {pipe.batch = "arg0"}
// CHECK-SAME: tensor<8x5xf32> {pipe.param
// CHECK-SAME: -> tensor<f32>
// PASS-LABEL: func.func @step
// PASS-NOT: linalg.transpose
// PASS: %[[EMPTY:.*]] = tensor.empty() : tensor<8x5xf32>
// PASS: return %{{.*}}, %[[EMPTY]]
func.func @step(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>) -> (tensor<f32>, tensor<8x5xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  %s = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%z : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %l = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%h : tensor<4x5xf32>) outs(%s0 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.mulf %a, %a : f32
    %r = arith.addf %b, %q : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %et = tensor.empty() : tensor<8x4xf32>
  %xt = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%et : tensor<8x4xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<8x5xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<8x5xf32>) -> tensor<8x5xf32>
  %g = linalg.matmul ins(%xt, %h : tensor<8x4xf32>, tensor<4x5xf32>) outs(%f2 : tensor<8x5xf32>) -> tensor<8x5xf32>
  return %l, %g : tensor<f32>, tensor<8x5xf32>
}

// -----

// An argument that only a result uses which is left out is no data.

// CHECK-LABEL: func.func @side
// CHECK-SAME: (%{{[^,]*}}: tensor<4x8xf32> {pipe.batch = "arg0"}, %{{[^,]*}}: tensor<8x5xf32> {pipe.param = {{[^,]*}}, init = {{[^}]*}}}) -> tensor<f32>
func.func @side(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %mask: tensor<4x5xf32>) -> (tensor<f32>, tensor<4x5xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x5xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x5xf32>) outs(%f : tensor<4x5xf32>) -> tensor<4x5xf32>
  %s = tensor.empty() : tensor<f32>
  %s0 = linalg.fill ins(%z : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %l = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%h : tensor<4x5xf32>) outs(%s0 : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %q = arith.mulf %a, %a : f32
    %r = arith.addf %b, %q : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %m = linalg.mul ins(%h, %mask : tensor<4x5xf32>, tensor<4x5xf32>) outs(%e : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %l, %m : tensor<f32>, tensor<4x5xf32>
}
