// RUN: veeline-opt %s --pipe-import-constants --split-input-file --verify-diagnostics

// expected-note @below {{the global is here}}
ml_program.global private mutable @table : tensor<2xf32>
func.func @model() -> tensor<2xf32> {
  // expected-error @below {{reads the global @table, which has no tensor to start with}}
  %g = ml_program.global_load @table : tensor<2xf32>
  return %g : tensor<2xf32>
}

// -----

func.func @short(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error @below {{the resource 'w' has 8 bytes, which are not those of 'tensor<2x2xf32>'}}
  %w = arith.constant dense_resource<w> : tensor<2x2xf32>
  %0 = arith.addf %x, %w : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x08000000803F004040404080"
    }
  }
#-}

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

// -----

// expected-note @below {{the global is here}}
memref.global "private" @table : memref<2xf32> = uninitialized
func.func @buffer() -> tensor<2xf32> {
  %m = memref.get_global @table : memref<2xf32>
  // expected-error @below {{reads the global @table, which has no tensor to start with}}
  %g = bufferization.to_tensor %m restrict : memref<2xf32> to tensor<2xf32>
  return %g : tensor<2xf32>
}

// -----

func.func @custom(%x: tensor<1x6x8xf32>) -> tensor<1x6x8xf32> {
  // expected-error @below {{the file does not say what the custom op 'gelu' computes; export the model with ops of TOSA in its place}}
  %y = tosa.custom %x {operator_name = "gelu", domain_name = "x", implementation_attrs = ""} : (tensor<1x6x8xf32>) -> tensor<1x6x8xf32>
  return %y : tensor<1x6x8xf32>
}
