// A bias of one value everywhere, where the sum of a product begins, is a parameter, as any other bias is.
// RUN: veeline-opt %s --pipe-import=loss=mse 2>/dev/null | FileCheck %s
// CHECK: func.func @forward(
// CHECK-SAME: tensor<4x3xf32> {pipe.param = #pipe.param<"weight0"
// CHECK-SAME: tensor<3xf32> {pipe.param = #pipe.param<"weight1"
// CHECK-NOT: pipe.param

func.func @forward(%x: tensor<8x4xf32>) -> tensor<8x3xf32> {
  %w = arith.constant dense<0.5> : tensor<4x3xf32>
  %b = arith.constant dense<0.0> : tensor<3xf32>
  %e = tensor.empty() : tensor<8x3xf32>
  %start = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<8x3xf32>) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : tensor<8x4xf32>, tensor<4x3xf32>) outs(%start : tensor<8x3xf32>) -> tensor<8x3xf32>
  return %y : tensor<8x3xf32>
}
