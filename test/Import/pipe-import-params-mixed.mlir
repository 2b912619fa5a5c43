// Arguments and constants that could be weights in one model: each is judged by its own uses.
// RUN: veeline-opt %s --pipe-import-params=verbose --split-input-file --verify-diagnostics=only-expected | FileCheck %s

// A constant that looks like a weight does not make data of the arguments.
// CHECK-LABEL: func.func @weights_are_arguments(
// CHECK-SAME:    tensor<4x8xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<8x3xf32> {pipe.param = #pipe.param<"arg1"
// CHECK-SAME:    tensor<3xf32> {pipe.param = #pipe.param<"arg2"
// CHECK-SAME:    tensor<8xf32> {pipe.param = #pipe.param<"weight0", init = values(
func.func @weights_are_arguments(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<4x8xf32>') is taken for data}}
    %x: tensor<4x8xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<8x3xf32>') is taken for a parameter}}
    %w: tensor<8x3xf32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<3xf32>') is taken for a parameter}}
    %b: tensor<3xf32>,
    %s: tensor<8xf32> {pipe.constant = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>}) -> tensor<4x3xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %sb = linalg.broadcast ins(%s : tensor<8xf32>) outs(%e : tensor<4x8xf32>) dimensions = [0]
  %xs = arith.mulf %x, %sb : tensor<4x8xf32>
  %f = tensor.empty() : tensor<4x3xf32>
  %bb = linalg.broadcast ins(%b : tensor<3xf32>) outs(%f : tensor<4x3xf32>) dimensions = [0]
  %y = linalg.matmul ins(%xs, %w : tensor<4x8xf32>, tensor<8x3xf32>) outs(%bb : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// A filter is a weight as a right operand is, here beside a product with a constant.
// CHECK-LABEL: func.func @filter(
// CHECK-SAME:    tensor<2x1x8xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<3x1x5xf32> {pipe.param = #pipe.param<"arg1"
// CHECK-SAME:    tensor<12x6xf32> {pipe.param = #pipe.param<"weight0"
func.func @filter(%x: tensor<2x1x8xf32>, %k: tensor<3x1x5xf32>,
    %w: tensor<12x6xf32> {pipe.constant = dense<0.5> : tensor<12x6xf32>}) -> tensor<2x6xf32> {
  %z = arith.constant dense<0.0> : tensor<2x3x4xf32>
  %c = linalg.conv_1d_ncw_fcw {dilations = dense<1> : vector<1xi64>, strides = dense<1> : vector<1xi64>} ins(%x, %k : tensor<2x1x8xf32>, tensor<3x1x5xf32>) outs(%z : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %f = tensor.collapse_shape %c [[0], [1, 2]] : tensor<2x3x4xf32> into tensor<2x12xf32>
  %zy = arith.constant dense<0.0> : tensor<2x6xf32>
  %y = linalg.matmul ins(%f, %w : tensor<2x12xf32>, tensor<12x6xf32>) outs(%zy : tensor<2x6xf32>) -> tensor<2x6xf32>
  return %y : tensor<2x6xf32>
}

// -----

// The model returns its own loss, and a constant looks like a weight.
// CHECK-LABEL: func.func @own_loss(
// CHECK-SAME:    tensor<4x8xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<8x3xf32> {pipe.param = #pipe.param<"arg1"
// CHECK-SAME:    tensor<3xf32> {pipe.param = #pipe.param<"weight0"
func.func @own_loss(%x: tensor<4x8xf32>, %w: tensor<8x3xf32>,
    %s: tensor<3xf32> {pipe.constant = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}) -> tensor<f32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %bb = linalg.broadcast ins(%s : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x3xf32>) outs(%bb : tensor<4x3xf32>) -> tensor<4x3xf32>
  %start = arith.constant dense<0.0> : tensor<f32>
  %r = linalg.reduce { arith.addf } ins(%y : tensor<4x3xf32>) outs(%start : tensor<f32>) dimensions = [0, 1]
  return %r : tensor<f32>
}

// -----

// Where all the weights are constants, arguments are data: a vector, and what
// each sample is multiplied with.
// CHECK-LABEL: func.func @weights_are_constants(
// CHECK-SAME:    tensor<4x2x3xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<4x3x5xf32> {pipe.batch = "arg1"},
// CHECK-SAME:    tensor<5xf32> {pipe.batch = "arg2"},
// CHECK-SAME:    tensor<5x5xf32> {pipe.param = #pipe.param<"weight0"
func.func @weights_are_constants(%q: tensor<4x2x3xf32>, %k: tensor<4x3x5xf32>, %b: tensor<5xf32>,
    %w: tensor<5x5xf32> {pipe.constant = dense<0.5> : tensor<5x5xf32>}) -> tensor<4x2x5xf32> {
  %e = tensor.empty() : tensor<4x2x5xf32>
  %bias = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e : tensor<4x2x5xf32>) dimensions = [0, 1]
  %y = linalg.batch_matmul ins(%q, %k : tensor<4x2x3xf32>, tensor<4x3x5xf32>) outs(%bias : tensor<4x2x5xf32>) -> tensor<4x2x5xf32>
  %f = tensor.collapse_shape %y [[0, 1], [2]] : tensor<4x2x5xf32> into tensor<8x5xf32>
  %z = arith.constant dense<0.0> : tensor<8x5xf32>
  %p = linalg.matmul ins(%f, %w : tensor<8x5xf32>, tensor<5x5xf32>) outs(%z : tensor<8x5xf32>) -> tensor<8x5xf32>
  %r = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 2, 5] : tensor<8x5xf32> into tensor<4x2x5xf32>
  return %r : tensor<4x2x5xf32>
}

// -----

// So is what is multiplied with data as long as itself.
// CHECK-LABEL: func.func @pooled(
// CHECK-SAME:    tensor<6x6xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<6x4xf32> {pipe.batch = "arg1"},
// CHECK-SAME:    tensor<4x2xf32> {pipe.param = #pipe.param<"weight0"
func.func @pooled(%edges: tensor<6x6xf32>, %nodes: tensor<6x4xf32>,
    %w: tensor<4x2xf32> {pipe.constant = dense<0.5> : tensor<4x2xf32>}) -> tensor<1x2xf32> {
  %z = arith.constant dense<0.0> : tensor<6x4xf32>
  %h = linalg.matmul ins(%edges, %nodes : tensor<6x6xf32>, tensor<6x4xf32>) outs(%z : tensor<6x4xf32>) -> tensor<6x4xf32>
  %z1 = arith.constant dense<0.0> : tensor<6x2xf32>
  %y = linalg.matmul ins(%h, %w : tensor<6x4xf32>, tensor<4x2xf32>) outs(%z1 : tensor<6x2xf32>) -> tensor<6x2xf32>
  %z2 = arith.constant dense<0.0> : tensor<2xf32>
  %s = linalg.reduce { arith.addf } ins(%y : tensor<6x2xf32>) outs(%z2 : tensor<2xf32>) dimensions = [0]
  %r = tensor.expand_shape %s [[0, 1]] output_shape [1, 2] : tensor<2xf32> into tensor<1x2xf32>
  return %r : tensor<1x2xf32>
}
