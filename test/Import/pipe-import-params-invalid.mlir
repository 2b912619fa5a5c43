// RUN: veeline-opt %s --pipe-import-params --split-input-file --verify-diagnostics=only-expected

// A layer without weights, whose inputs all have the batch as leading dimension.
// expected-error @below {{the model has nothing to train: neither constants nor arguments look like weights; choose arguments by --params}}
func.func @attention(%q: tensor<1x4xf32>, %k: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = arith.mulf %q, %k : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// expected-error @below {{argument 0 ("arg0", 'tensor<?x4xf32>') is no tensor of static shape; export the model with fixed sizes, or, where a batch argument has lengths, mark what its arguments are (pipe.param, pipe.batch) and give --length-bound}}
func.func @dynamic(%x: tensor<?x4xf32>, %w: tensor<4xf32>) -> tensor<1x4xf32> {
  %0 = tensor.cast %x : tensor<?x4xf32> to tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

// The model's own loss, of which no product tells what is data.
// expected-error @below {{the model returns a scalar, whose shape does not tell data from weights, and no argument is the left operand of a product with another one; choose the parameters by --params}}
func.func @no_product(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %p = arith.mulf %x, %w : tensor<4xf32>
  %s = linalg.reduce { arith.addf } ins(%p : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
  return %s : tensor<f32>
}

// -----

// A product of two weights.
// expected-error @below {{arguments 0 ("arg0", 'tensor<4x2xf32>') and 1 ("arg1", 'tensor<2x3xf32>') could both be data by their use; choose the parameters by --params}}
func.func @low_rank(%x: tensor<4x2xf32>, %a: tensor<2x3xf32>, %b: tensor<3x5xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5xf32>) -> tensor<2x5xf32>
  %w = linalg.matmul ins(%a, %b : tensor<2x3xf32>, tensor<3x5xf32>) outs(%z : tensor<2x5xf32>) -> tensor<2x5xf32>
  %f = tensor.empty() : tensor<4x3xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
  %h = linalg.matmul ins(%x, %a : tensor<4x2xf32>, tensor<2x3xf32>) outs(%g : tensor<4x3xf32>) -> tensor<4x3xf32>
  %s = arith.constant dense<0.0> : tensor<f32>
  %t = linalg.reduce { arith.addf } ins(%w : tensor<2x5xf32>) outs(%s : tensor<f32>) dimensions = [0, 1]
  %u = linalg.reduce { arith.addf } ins(%h : tensor<4x3xf32>) outs(%t : tensor<f32>) dimensions = [0, 1]
  return %u : tensor<f32>
}

// -----

// A scale of the width of the batch, or weights of the samples.
// expected-error @below {{argument 2 ("arg2", 'tensor<4xf32>') could be either by its use; choose the parameters by --params}}
func.func @scale(%x: tensor<4x2xf32>, %w: tensor<2x4xf32>, %s: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = linalg.broadcast ins(%s : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [1]
  %p = linalg.mul ins(%y, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %start = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%p : tensor<4x4xf32>) outs(%start : tensor<f32>) dimensions = [0, 1]
  return %r : tensor<f32>
}
