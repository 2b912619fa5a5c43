// Zeros around x are numbers of the call, also where something else reads x with the zeros, or they are put there by an
// insertion: the call, and so the order of its sums, depends on nothing but the convolution.

// RUN: veeline-opt %s --split-input-file --pipe-bufferize-chunks | FileCheck %s

// CHECK: pipe.convolutions = [{{.*}}x_sizes = array<i64: 3>, x_strides = array<i64: 6, 6, 3, 1>
// CHECK-NOT: x_sizes
// CHECK-LABEL: func.func @padding_is_a_result
func.func @padding_is_a_result(%x: tensor<1x2x3xf32>, %w: tensor<2x2x3xf32>) -> (tensor<1x2x1xf32>, tensor<1x2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 0] high[0, 0, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<1x2x3xf32> to tensor<1x2x4xf32>
  %empty = tensor.empty() : tensor<1x2x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  %y = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%padded, %w : tensor<1x2x4xf32>, tensor<2x2x3xf32>) outs(%zeros : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  return %y, %padded : tensor<1x2x1xf32>, tensor<1x2x4xf32>
}

// -----

// CHECK: pipe.convolutions = [{{.*}}x_sizes = array<i64: 3>, x_strides = array<i64: 6, 6, 3, 1>
// CHECK-NOT: x_sizes
// CHECK-LABEL: func.func @insertion
func.func @insertion(%x: tensor<1x2x3xf32>, %w: tensor<2x2x3xf32>) -> (tensor<1x2x1xf32>, tensor<1x2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x2x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %padded = tensor.insert_slice %x into %f[0, 0, 0] [1, 2, 3] [1, 1, 1] : tensor<1x2x3xf32> into tensor<1x2x4xf32>
  %empty = tensor.empty() : tensor<1x2x1xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  %y = linalg.conv_1d_ncw_fcw {strides = dense<2> : tensor<1xi64>, dilations = dense<1> : tensor<1xi64>}
    ins(%padded, %w : tensor<1x2x4xf32>, tensor<2x2x3xf32>) outs(%zeros : tensor<1x2x1xf32>) -> tensor<1x2x1xf32>
  return %y, %padded : tensor<1x2x1xf32>, tensor<1x2x4xf32>
}
