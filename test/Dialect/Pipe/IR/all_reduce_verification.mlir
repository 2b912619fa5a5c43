// RUN: veeline-opt %s --split-input-file --verify-diagnostics

// What does not depend on the pipeline is that of pipe.gradient.

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
  // expected-error @below {{adds up over the replicas of a pipeline that has one}}
  %h = pipe.all_reduce param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) replicas(2) {
  %x = pipe.batch "x" : tensor<4xf32>
  // expected-note @below {{the parameter is here}}
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
  // expected-error @below {{has type 'tensor<4xf32>', parameter 0 has type 'tensor<8xf32>'}}
  %h = pipe.all_reduce param(0) chunk(0) communicator(1) : !pipe.handle<tensor<4xf32>>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) replicas(2) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
  // expected-error @below {{names chunk 1, but the pipeline has 1}}
  %h = pipe.all_reduce param(0) chunk(1) communicator(1) : !pipe.handle<tensor<8xf32>>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) replicas(2) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
  // expected-note @below {{the first time is here}}
  %h = pipe.all_reduce param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  // expected-error @below {{reads the sum of parameter 0 and chunk 0 a second time}}
  %g = pipe.gradient param(0) chunk(0) : tensor<8xf32>
}
