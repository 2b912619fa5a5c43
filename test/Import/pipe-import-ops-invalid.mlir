// RUN: veeline-opt %s --pipe-import-ops --verify-diagnostics

func.func @fft(%x: tensor<1x4x8xf32>) -> tensor<1x4x5xf32> {
  // expected-error @below {{'tosa.rfft2d' cannot be lowered to linalg}}
  %re, %im = tosa.rfft2d %x : (tensor<1x4x8xf32>) -> (tensor<1x4x5xf32>, tensor<1x4x5xf32>)
  return %re : tensor<1x4x5xf32>
}
