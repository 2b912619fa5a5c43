// RUN: veeline-opt %s --pipe-import-loss=loss=sum --verify-diagnostics=only-expected

func.func @model(%x: tensor<2xf32>, %n: tensor<2xi64>) -> (tensor<2xi64>, tensor<2xf32>, tensor<2xf32>) {
  // expected-error @below {{several results of the model can be what the loss is made of: 1: 'tensor<2xf32>', 2: 'tensor<2xf32>'; choose one by --result}}
  return %n, %x, %x : tensor<2xi64>, tensor<2xf32>, tensor<2xf32>
}
