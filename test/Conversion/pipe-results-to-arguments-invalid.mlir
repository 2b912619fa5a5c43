// RUN: veeline-opt %s --pipe-results-to-arguments --split-input-file --verify-diagnostics

// expected-error @+1 {{needs arguments that are tensors of static shape, found 'tensor<?xf32>'}}
func.func @dynamic(%x: tensor<?xf32>) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{needs results that are tensors of static shape, found 'f32'}}
func.func @scalar(%x: tensor<4xf32>) -> f32 {
  %0 = arith.constant 0.0 : f32
  return %0 : f32
}

// -----

func.func private @callee(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a chunk function cannot call 'callee': inline it first}}
  %0 = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{needs a body of one block, found 2}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
