// RUN: veeline-opt %s --pipe-split-recomputation --split-input-file --verify-diagnostics

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  // expected-error @below {{has no forward function; run --pipe-differentiate first}}
  %0 = pipe.chunk 0 @chunk(%w) : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  // expected-error @below {{has its backward split already; run --pipe-split-recomputation once, before --pipe-split-backward}}
  %0 = pipe.chunk 0 @chunk(%w) {forward = @forward, backward = @backward, backward_weight = @backward} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}
func.func private @forward(%w: tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>}) {
  return %w : tensor<f32>
}
func.func private @backward() -> (tensor<f32> {pipe.role = #pipe.role<param_grad 0>}) {
  %one = arith.constant dense<1.0> : tensor<f32>
  return %one : tensor<f32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  // expected-error @below {{has a recomputation but no backward function}}
  %0 = pipe.chunk 0 @chunk(%w) {forward = @chunk, recomputation = @chunk} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @chunk(%w) {forward = @chunk, backward = @chunk, recomputation = @nothing} : (tensor<f32>) -> tensor<f32>
  // expected-error @above {{refers to @nothing, which is not a func.func of this module}}
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}
