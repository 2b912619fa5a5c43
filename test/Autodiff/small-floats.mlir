// RUN: veeline-opt %s --pipe-differentiate | FileCheck %s

// Mixed precision: weights of f32, products of bf16.

pipe.pipeline @net stages(5) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<4x5xf32>
  %x = pipe.batch "x" : tensor<3x4xf32>
  %0 = pipe.chunk 0 @rounded(%x, %w) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xbf16>
  %1 = pipe.chunk 1 @rounded_later(%x, %w) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xbf16>
  %2 = pipe.chunk 2 @wide(%x, %w) : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %3 = pipe.chunk 3 @powers(%0) : (tensor<3x5xbf16>) -> tensor<3x5xf32>
  %4 = pipe.chunk 4 @loss(%0, %1, %2, %3) : (tensor<3x5xbf16>, tensor<3x5xbf16>, tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<f32>
  pipe.yield %4 : tensor<f32>
}

// The sum of f32 is the gradient of the weights: that of what they are rounded to
// is no number that anybody wants.
// CHECK-LABEL: func.func private @rounded_backward(
// CHECK-SAME:    %[[G:[^ ]*]]: tensor<3x5xbf16> {pipe.role = #pipe.role<result_grad 0>})
// CHECK:         %[[X:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<3x4xbf16>)
// CHECK:         %[[DW:.*]] = linalg.matmul {{.*}} ins(%[[X]], %[[G]] : tensor<3x4xbf16>, tensor<3x5xbf16>) outs(%{{.*}} : tensor<4x5xf32>)
// CHECK-NEXT:    return %[[DW]]
func.func private @rounded(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x5xbf16> {
  %xh = arith.truncf %x : tensor<3x4xf32> to tensor<3x4xbf16>
  %wh = arith.truncf %w : tensor<4x5xf32> to tensor<4x5xbf16>
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<3x5xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<3x5xbf16>) -> tensor<3x5xbf16>
  %0 = linalg.matmul ins(%xh, %wh : tensor<3x4xbf16>, tensor<4x5xbf16>) outs(%c : tensor<3x5xbf16>) -> tensor<3x5xbf16>
  return %0 : tensor<3x5xbf16>
}

// A sum of f32 that is rounded afterwards has a gradient of f32, which is what is
// extended: a product again, of its terms as they are.
// CHECK-LABEL: func.func private @rounded_later_backward(
// CHECK-SAME:    %[[G:[^ ]*]]: tensor<3x5xbf16> {pipe.role = #pipe.role<result_grad 0>})
// CHECK:         %[[WIDE:.*]] = linalg.generic {{.*}} ins(%[[G]] : tensor<3x5xbf16>) outs(%{{.*}} : tensor<3x5xf32>)
// CHECK:         %[[DW:.*]] = linalg.matmul {{.*}} ins(%{{.*}}, %[[WIDE]] : tensor<3x4xbf16>, tensor<3x5xf32>) outs(%{{.*}} : tensor<4x5xf32>)
// CHECK-NEXT:    return %[[DW]]
func.func private @rounded_later(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x5xbf16> {
  %xh = arith.truncf %x : tensor<3x4xf32> to tensor<3x4xbf16>
  %wh = arith.truncf %w : tensor<4x5xf32> to tensor<4x5xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %0 = linalg.matmul ins(%xh, %wh : tensor<3x4xbf16>, tensor<4x5xbf16>) outs(%c : tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = arith.truncf %0 : tensor<3x5xf32> to tensor<3x5xbf16>
  return %1 : tensor<3x5xbf16>
}

// CHECK-LABEL: func.func private @wide_backward(
// CHECK:         linalg.matmul {{.*}} : tensor<3x4xbf16>, tensor<3x5xf32>) outs(%{{.*}} : tensor<4x5xf32>)
// CHECK-NEXT:    return
func.func private @wide(%x: tensor<3x4xf32>, %w: tensor<4x5xf32>) -> tensor<3x5xf32> {
  %xh = arith.truncf %x : tensor<3x4xf32> to tensor<3x4xbf16>
  %wh = arith.truncf %w : tensor<4x5xf32> to tensor<4x5xbf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5xf32>) -> tensor<3x5xf32>
  %0 = linalg.matmul ins(%xh, %wh : tensor<3x4xbf16>, tensor<4x5xbf16>) outs(%c : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// What is extended is never kept: the backward takes the small floats, of which it
// computes the powers again, since these are larger. In f32 it would take powers.
// CHECK-LABEL: func.func private @powers_forward(
// CHECK-SAME:    -> (tensor<3x5xf32> {pipe.role = #pipe.role<result 0>}) {
// CHECK-LABEL: func.func private @powers_backward(
// CHECK-SAME:    %[[Z:[^ ]*]]: tensor<3x5xbf16> {pipe.role = #pipe.role<operand 0>}, %[[G:[^ ]*]]: tensor<3x5xf32> {pipe.role = #pipe.role<result_grad 0>})
// CHECK:         arith.extf
// CHECK:         math.exp
func.func private @powers(%z: tensor<3x5xbf16>) -> tensor<3x5xf32> {
  %wide = arith.extf %z : tensor<3x5xbf16> to tensor<3x5xf32>
  %0 = math.exp %wide : tensor<3x5xf32>
  %1 = math.sin %0 : tensor<3x5xf32>
  %2 = arith.mulf %0, %1 : tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}

func.func private @loss(%0: tensor<3x5xbf16>, %1: tensor<3x5xbf16>, %2: tensor<3x5xf32>, %3: tensor<3x5xf32>) -> tensor<f32> {
  %c = arith.constant dense<0.0> : tensor<f32>
  return %c : tensor<f32>
}
