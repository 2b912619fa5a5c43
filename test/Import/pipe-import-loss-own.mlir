// RUN: veeline-opt %s --split-input-file --pipe-import-loss 2>&1 | FileCheck %s

// Without an option, the only scalar of floats is the loss.

// CHECK: remark: result 1 of the model, 'tensor<f32>', is what the loss is made of
func.func @scalar(%x: tensor<f32> {pipe.batch = "x"}, %n: tensor<2xi64> {pipe.batch = "n"}) -> (tensor<2xi64>, tensor<f32>) {
  return %n, %x : tensor<2xi64>, tensor<f32>
}

// -----

// A loss that the model has: what is no metric is left out.

// CHECK: remark: result 3 of the model, 'tensor<2x5xf32>', is left out: metrics are scalars of floats; if it is a gradient or an updated parameter, say so by --joint and --params (docs/joint-graphs.md)
// CHECK: remark: result 1 of the model, 'tensor<2xi64>', is left out: metrics are scalars of floats{{$}}
func.func @own_loss(%x: tensor<f32> {pipe.batch = "x"}, %n: tensor<2xi64> {pipe.batch = "n"}, %y: tensor<2x5xf32> {pipe.batch = "y"}) -> (tensor<f32>, tensor<2xi64>, tensor<f32>, tensor<2x5xf32>) {
  return %x, %n, %x, %y : tensor<f32>, tensor<2xi64>, tensor<f32>, tensor<2x5xf32>
}
