// RUN: veeline-opt %s --split-input-file --pipe-import-loss=loss=mse 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=SAID < %t.err
// RUN: not veeline-opt %s --split-input-file --pipe-import-loss 2>&1 | FileCheck %s --check-prefix=NONE

// The place of an argmax in front of the only result of floats.

// SAID: remark: result 1 of the model, 'tensor<2x5xf32>', is what the loss is made of
// CHECK-LABEL: func.func @argmax_first(
// CHECK-SAME:    tensor<2x5xf32> {pipe.batch = "targets"}) -> tensor<f32>
// NONE: error: result 0 of the model is 'tensor<2xi64>', and a loss is made of a tensor of floats of static shape; its results are 0 ('tensor<2xi64>'), 1 ('tensor<2x5xf32>'); choose one by --result, and attach a loss by --loss: cross-entropy, mse or sum
func.func @argmax_first(%x: tensor<2x5xf32> {pipe.batch = "x"}, %n: tensor<2xi64> {pipe.batch = "n"}) -> (tensor<2xi64>, tensor<2x5xf32>) {
  return %n, %x : tensor<2xi64>, tensor<2x5xf32>
}

// -----

// The first result of floats is taken where it is the first of all.

// SAID: remark: result 0 of the model, 'tensor<2x5xf32>', is what the loss is made of; --result chooses another one
// CHECK-LABEL: func.func @several(
// CHECK-SAME:    tensor<2x5xf32> {pipe.batch = "targets"}) -> tensor<f32>
// NONE: error: result 0 of the model is 'tensor<2x5xf32>', no loss
func.func @several(%x: tensor<2x5xf32> {pipe.batch = "x"}, %y: tensor<3xf32> {pipe.batch = "y"}, %n: tensor<2xi64> {pipe.batch = "n"}) -> (tensor<2x5xf32>, tensor<2xi64>, tensor<3xf32>) {
  return %x, %n, %y : tensor<2x5xf32>, tensor<2xi64>, tensor<3xf32>
}

// -----

// A result that no parameter changes is none that a loss is made of.

// SAID: remark: result 1 of the model, 'tensor<2x3xf32>', is what the loss is made of
// CHECK-LABEL: func.func @untrained_first(
// CHECK-SAME:    tensor<2x3xf32> {pipe.batch = "targets"}) -> tensor<f32>
func.func @untrained_first(%x: tensor<2x3xf32> {pipe.batch = "x"}, %w: tensor<2x3xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %t = math.tanh %x : tensor<2x3xf32>
  %y = arith.mulf %t, %w : tensor<2x3xf32>
  return %t, %y : tensor<2x3xf32>, tensor<2x3xf32>
}
