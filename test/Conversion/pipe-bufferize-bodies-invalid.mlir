// RUN: veeline-opt %s --pipe-bufferize-bodies --split-input-file --verify-diagnostics

func.func @unknown(%x: memref<4x8xf32>, %y: memref<8x4xf32>) {
  %0 = bufferization.to_tensor %x restrict : memref<4x8xf32> to tensor<4x8xf32>
  // expected-error @+1 {{'tosa.reverse' has no form on buffers: a chunk function may hold linalg, tensor, arith, math and scf ops, and others that say by linalg::AggregatedOpInterface which of these they are made of}}
  %1 = tosa.reverse %0 {axis = 1 : i32} : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = tensor.collapse_shape %1 [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  %3 = tensor.expand_shape %2 [[0, 1]] output_shape [8, 4] : tensor<32xf32> into tensor<8x4xf32>
  bufferization.materialize_in_destination %3 in restrict writable %y : (tensor<8x4xf32>, memref<8x4xf32>) -> ()
  return
}
