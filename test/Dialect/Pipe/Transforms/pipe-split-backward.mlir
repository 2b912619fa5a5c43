// RUN: veeline-opt %s --pipe-differentiate --pipe-split-backward | FileCheck %s

// CHECK-LABEL: pipe.pipeline @net
pipe.pipeline @net stages(3) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2x4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4x4xf32>
  // The first chunk has no incoming edge: its W is its whole backward.
  // CHECK: pipe.chunk 0 @first
  // CHECK-NOT: backward_input
  // CHECK-SAME: backward_weight = @first_backward_weight
  %0 = pipe.chunk 0 @first(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.chunk 1 @layer
  // CHECK-SAME: backward_input = @layer_backward_input
  // CHECK-SAME: backward_weight = @layer_backward_weight
  %1 = pipe.chunk 1 @layer(%0, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  // The last chunk has no parameters.
  // CHECK: pipe.chunk 2 @loss
  // CHECK-SAME: backward_input = @loss_backward_input
  // CHECK-NOT: backward_weight
  %2 = pipe.chunk 2 @loss(%1) : (tensor<2x4xf32>) -> tensor<f32>
  pipe.yield %2 : tensor<f32>
}

// CHECK-LABEL: func.func private @first_backward_weight(
// CHECK-SAME:    {pipe.role = #pipe.role<operand 0>}
// CHECK-SAME:    {pipe.role = #pipe.role<result_grad 0>})
// CHECK-SAME:  -> (tensor<4x4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @first(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// y = tanh(x w): B needs the gradient of the product and so does W; it is
// computed once, and saved. W takes x from where it is.
// CHECK-LABEL: func.func private @layer_backward_input(
// CHECK-SAME:    %[[W:[^ ]*]]: tensor<4x4xf32> {pipe.role = #pipe.role<operand 1>},
// CHECK-SAME:    %[[Y:[^ ]*]]: tensor<2x4xf32> {pipe.role = #pipe.role<result 0>},
// CHECK-SAME:    %[[DY:[^ ]*]]: tensor<2x4xf32> {pipe.role = #pipe.role<result_grad 0>})
// CHECK-SAME:  -> (tensor<2x4xf32> {pipe.role = #pipe.role<operand_grad 0>},
// CHECK-SAME:      tensor<2x4xf32> {pipe.role = #pipe.role<saved 0>}) {
// CHECK:         %[[DP:.*]] = linalg.generic {{.*}} ins(%[[Y]], %[[DY]] :
// CHECK:         %[[DX:.*]] = linalg.matmul {{.*}} ins(%[[DP]], %[[W]] :
// CHECK-NOT:     linalg.matmul
// CHECK:         return %[[DX]], %[[DP]]
// CHECK-LABEL: func.func private @layer_backward_weight(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<2x4xf32> {pipe.role = #pipe.role<operand 0>},
// CHECK-SAME:    %[[DP:[^ ]*]]: tensor<2x4xf32> {pipe.role = #pipe.role<saved 0>})
// CHECK-SAME:  -> (tensor<4x4xf32> {pipe.role = #pipe.role<param_grad 1>}) {
// CHECK:         %[[DW:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[DP]] :
// CHECK-NOT:     linalg.matmul
// CHECK:         return %[[DW]]
func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = math.tanh %0 : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

func.func private @loss(%x: tensor<2x4xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<2x4xf32>) outs(%c : tensor<f32>) dimensions = [0, 1]
  return %0 : tensor<f32>
}
