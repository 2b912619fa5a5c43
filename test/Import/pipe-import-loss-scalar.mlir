// A scalar is the model's own loss: labels and targets do not go with it.
// RUN: not veeline-opt %s --pipe-import-loss=loss=mse 2>&1 | FileCheck %s --check-prefix=MSE
// RUN: not veeline-opt %s --pipe-import-loss=loss=cross-entropy 2>&1 | FileCheck %s --check-prefix=CE
// RUN: veeline-opt %s --pipe-import-loss=loss=sum | FileCheck %s
// RUN: veeline-opt %s --pipe-import-loss | FileCheck %s

// MSE: scalar.mlir:[[#@LINE+5]]:1: error: the mean squared error needs a result of one dimension or more, to compare with targets; found 'tensor<f32>', a loss already: leave --loss out to train with it, or choose another result by --result
// CE:  scalar.mlir:[[#@LINE+4]]:1: error: cross entropy needs classes, two or more in the last dimension of the result; found 'tensor<f32>'
// CHECK-LABEL: func.func @own_loss(
// CHECK-SAME:    tensor<4xf32> {pipe.batch = "x"}) -> tensor<f32>
// CHECK-NOT:     targets
func.func @own_loss(%x: tensor<4xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %start = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<4xf32>) outs(%start : tensor<f32>) dimensions = [0]
  return %s : tensor<f32>
}
