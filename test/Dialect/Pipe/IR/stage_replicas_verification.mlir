// RUN: veeline-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{has 2 stages, but 'stage_replicas' has 1 number; expected one for each stage}}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) stage_replicas [2] {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @d(%0, %w) : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @d(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>

// -----

// expected-error @below {{has 0 ranks for stage 1 in 'stage_replicas'; a stage has at least 1}}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) stage_replicas [2, 0] {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @d(%0, %w) : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @d(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) stage_replicas [2, 1] {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @d(%0, %w) : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @d(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
// expected-error @below {{is for replica 2 of stage 0, which has 2 ranks}}
pipe.program @rank of @net stage(0) replica(2) {
}

// -----

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) stage_replicas [2, 1] {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @d(%0, %w) : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @d(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
// expected-error @below {{is for replica 1 of stage 1, which has 1 rank}}
pipe.program @rank of @net stage(1) replica(1) {
}

// -----

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) stage_replicas [2, 1] {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @d(%0, %w) : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @d(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) replica(1) {
  // expected-error @below {{is about microbatch 2, which is for replica 0 of stage 0, on replica 1}}
  %0 = pipe.edge_value edge(0) gradient microbatch(2) : tensor<2xf32>
}

// -----

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) stage_replicas [2, 1] {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @d(%0, %w) : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @d(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
  // expected-error @below {{is for rank 2 of stage 0, which has 2 ranks: on the edge of a parameter the microbatch is the number of the receiving rank}}
  %0 = pipe.edge_value edge(1) gradient microbatch(2) : tensor<8xf32>
}

// -----

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) stage_replicas [2, 1] {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @d(%0, %w) : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @d(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(1) {
  // expected-error @below {{adds up over the ranks of stage 1, which has one}}
  %h = pipe.all_reduce param(0) chunk(1) communicator(2) : !pipe.handle<tensor<8xf32>>
}
