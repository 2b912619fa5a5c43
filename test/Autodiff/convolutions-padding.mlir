// Zeros around what a library's convolution reads are never kept, in whatever form they are and whoever else reads
// them: here an adjoint that no library computes.

// RUN: veeline-opt %s --pipe-partition="stages=1" --pipe-differentiate="recompute=none" | FileCheck %s

// CHECK-LABEL: func.func private @net_chunk0_forward(
// CHECK: %[[PADDED:.*]] = tensor.pad %{{.*}} low[0, 0, 0] high[0, 0, 1]
// CHECK: linalg.conv_1d_ncw_fcw {{.*}} ins(%[[PADDED]],
// CHECK: return %reduced : tensor<f32>
func.func @net(%x: tensor<1x2x3xf32> {pipe.batch = "x"}, %w: tensor<2x2x3xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %padded = tensor.insert_slice %x into %f[0, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<1x2x3xf32> into tensor<1x2x4xf32>
  %empty = tensor.empty() : tensor<1x2x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  %y = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%padded, %w : tensor<1x2x4xf32>, tensor<2x2x3xf32>) outs(%zeros : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  %1 = tensor.empty() : tensor<f32>
  %2 = linalg.fill ins(%zero : f32) outs(%1 : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<1x2x1xf32>) outs(%2 : tensor<f32>) dimensions = [0, 1, 2]
  return %loss : tensor<f32>
}
