// RUN: veeline-opt %s --split-input-file --verify-diagnostics

func.func @scalar(%x: f32) -> f32 {
  // expected-error @below {{invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %a = pipe.boundary %x : f32
  return %a : f32
}

// -----

func.func @types(%x: tensor<4xf32>) -> tensor<2xf32> {
  // expected-error @below {{requires the same type for all operands and results}}
  %a = "pipe.boundary"(%x) : (tensor<4xf32>) -> tensor<2xf32>
  return %a : tensor<2xf32>
}
