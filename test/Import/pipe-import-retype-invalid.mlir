// RUN: veeline-opt %s --pipe-import-retype=type=f64 --verify-diagnostics

func.func @bits(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{takes the bits of a float of type 'tensor<2xf32>' to 'tensor<2xi32>', which would be others in another type: this model cannot be retyped}}
  %0 = arith.bitcast %x : tensor<2xf32> to tensor<2xi32>
  %1 = arith.bitcast %0 : tensor<2xi32> to tensor<2xf32>
  return %1 : tensor<2xf32>
}
