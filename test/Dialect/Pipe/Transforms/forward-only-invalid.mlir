// RUN: veeline-opt %s --pipe-differentiate=forward-only=true --split-input-file --verify-diagnostics

// Results of forwards alone are those of chunks. The first need not be a loss.

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) attributes {pipe.forward_only} {
  %w = pipe.param <"w", init = ones> : tensor<4xf32>
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @only(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{result 1 is an input of the model as it is; return what the model computes}}
  pipe.yield %0, %x : tensor<4xf32>, tensor<4xf32>
}
func.func private @only(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = ones> : tensor<4xf32>
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @only(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{yields the loss first: a float tensor of rank 0, as tensor<f32>}}
  pipe.yield %0 : tensor<4xf32>
}
func.func private @only(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.mulf %x, %w : tensor<4xf32>
  return %y : tensor<4xf32>
}
