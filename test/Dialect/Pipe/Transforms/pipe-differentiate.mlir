// RUN: veeline-opt %s --pipe-differentiate | FileCheck %s

// Three chunks: the first has no incoming edge, the second a skip edge past it
// and a tied parameter, the last the loss.

// CHECK-LABEL: pipe.pipeline @net
pipe.pipeline @net stages(3) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2x4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4x4xf32>
  // CHECK: pipe.chunk 0 @embed
  // CHECK-SAME: backward = @embed_backward
  // CHECK-SAME: forward = @embed_forward
  %0 = pipe.chunk 0 @embed(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %1 = pipe.chunk 1 @layer(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2:2 = pipe.chunk 2 @head(%1, %w, %0) : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>) -> (tensor<f32>, tensor<2x4xf32>)
  pipe.yield %2#0, %2#1 : tensor<f32>, tensor<2x4xf32>
}

// The input is a batch argument: no gradient of it, and it is not a residual.
// CHECK-LABEL: func.func private @embed_forward(
// CHECK-SAME:    {pipe.role = #pipe.role<operand 0>}
// CHECK-SAME:    {pipe.role = #pipe.role<operand 1>})
// CHECK-SAME:  -> (tensor<2x4xf32> {pipe.role = #pipe.role<result 0>}) {
// CHECK-LABEL: func.func private @embed_backward(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4xf32> {pipe.role = #pipe.role<operand 0>},
// CHECK-SAME:    %[[G:.*]]: tensor<2x4xf32> {pipe.role = #pipe.role<result_grad 0>})
// CHECK-SAME:  -> (tensor<4x4xf32> {pipe.role = #pipe.role<param_grad 1>}) {
// CHECK:         %[[DW:.*]] = linalg.matmul indexing_maps = [{{.*}}] ins(%[[X]], %[[G]] :
// CHECK:         return %[[DW]]
func.func private @embed(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// exp's derivative is its result: neither a residual nor the operand is kept.
// CHECK-LABEL: func.func private @layer_forward(
// CHECK-SAME:    -> (tensor<2x4xf32> {pipe.role = #pipe.role<result 0>}) {
// CHECK-LABEL: func.func private @layer_backward(
// CHECK-SAME:    %[[Y:.*]]: tensor<2x4xf32> {pipe.role = #pipe.role<result 0>},
// CHECK-SAME:    %[[G:.*]]: tensor<2x4xf32> {pipe.role = #pipe.role<result_grad 0>})
// CHECK-SAME:  -> (tensor<2x4xf32> {pipe.role = #pipe.role<operand_grad 0>}) {
// CHECK:         linalg.generic {{.*}} ins(%[[Y]], %[[G]] :
// CHECK:           arith.mulf
// CHECK-NOT:     math.exp
func.func private @layer(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = math.exp %x : tensor<2x4xf32>
  %1 = pipe.boundary %0 : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// The loss has the gradient 1, and the metric none at all.
// CHECK-LABEL: func.func private @head_forward(
// CHECK-SAME:    -> (tensor<f32> {pipe.role = #pipe.role<result 0>},
// CHECK-SAME:        tensor<2x4xf32> {pipe.role = #pipe.role<result 1>},
// CHECK-SAME:        tensor<2x4xf32> {pipe.role = #pipe.role<residual 0>}) {
// CHECK-NOT:     pipe.boundary
// CHECK-LABEL: func.func private @head_backward(
// CHECK-NOT:     result_grad
// CHECK-SAME:  -> (tensor<2x4xf32> {pipe.role = #pipe.role<operand_grad 0>},
// CHECK-SAME:      tensor<2x4xf32> {pipe.role = #pipe.role<operand_grad 2>},
// CHECK-SAME:      tensor<4x4xf32> {pipe.role = #pipe.role<param_grad 1>}) {
// CHECK:         arith.constant dense<1.000000e+00> : tensor<f32>
func.func private @head(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %skip: tensor<2x4xf32>) -> (tensor<f32>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = tensor.empty() : tensor<f32>
  %d = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = arith.mulf %0, %skip : tensor<2x4xf32>
  %2 = linalg.reduce { arith.addf } ins(%1 : tensor<2x4xf32>) outs(%d : tensor<f32>) dimensions = [0, 1]
  %3 = math.floor %1 : tensor<2x4xf32>
  return %2, %3 : tensor<f32>, tensor<2x4xf32>
}
