// RUN: veeline-opt %s --pipe-import-constants --split-input-file --verify-diagnostics

// expected-note @below {{the global is here}}
ml_program.global private mutable @table : tensor<2xf32>
func.func @model() -> tensor<2xf32> {
  // expected-error @below {{reads the global @table, which has no tensor to start with}}
  %g = ml_program.global_load @table : tensor<2xf32>
  return %g : tensor<2xf32>
}

// -----

// expected-error @below {{expected one public func.func, found @a and @b; run --pipe-import-entry first}}
module {
  func.func @a(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func @b(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
