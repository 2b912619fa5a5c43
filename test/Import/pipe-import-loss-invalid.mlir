// RUN: veeline-opt %s --pipe-import-loss --split-input-file --verify-diagnostics=only-expected
// RUN: not veeline-opt %s --pipe-import-loss=loss=hinge 2>&1 | FileCheck %s --check-prefix=HINGE
// RUN: not veeline-opt %s "--pipe-import-loss=loss=sum result=1" 2>&1 | FileCheck %s --check-prefix=INTEGERS
// RUN: not veeline-opt %s "--pipe-import-loss=loss=sum result=2" 2>&1 | FileCheck %s --check-prefix=NUMBER

// HINGE:    error: unknown loss 'hinge'; expected cross-entropy, mse or sum
// INTEGERS: error: result 1 of the model is 'tensor<2xi64>', and a loss is made of a tensor of floats of static shape; its results are 0 ('tensor<2xf32>'), 1 ('tensor<2xi64>'); choose one by --result
// NUMBER:   error: there is no result 2 of the model; its results are 0 ('tensor<2xf32>'), 1 ('tensor<2xi64>')
func.func @model(%x: tensor<2xf32>, %n: tensor<2xi64>) -> (tensor<2xf32>, tensor<2xi64>) {
  // expected-error @below {{result 0 of the model is 'tensor<2xf32>', no loss; attach one by --loss: cross-entropy, mse or sum}}
  return %x, %n : tensor<2xf32>, tensor<2xi64>
}
