// RUN: veeline-opt %s --pipe-split-backward --split-input-file --verify-diagnostics

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
  %0 = pipe.chunk 0 @chunk(%w) {forward = @forward, backward = @backward} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @chunk(%w: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}
func.func private @forward(%w: tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>}) {
  return %w : tensor<f32>
}
// expected-error @below {{a backward function gives operand_grads and param_grads, but result 0 is a result}}
func.func private @backward(%w: tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>}) {
  return %w : tensor<f32>
}
