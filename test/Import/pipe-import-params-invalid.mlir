// RUN: veeline-opt %s --pipe-import-params --split-input-file --verify-diagnostics=only-expected

// A layer without weights, whose inputs all have the batch as leading dimension.
// expected-error @below {{the model has nothing to train: neither constants nor arguments look like weights; choose arguments by --params}}
func.func @attention(%q: tensor<1x4xf32>, %k: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = arith.mulf %q, %k : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// expected-error @below {{argument 0 ("arg0", 'tensor<?x4xf32>') is no tensor of static shape}}
func.func @dynamic(%x: tensor<?x4xf32>, %w: tensor<4xf32>) -> tensor<1x4xf32> {
  %0 = tensor.cast %x : tensor<?x4xf32> to tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
