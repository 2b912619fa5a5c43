// RUN: veeline-opt %s --split-input-file --verify-diagnostics

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(2) shard_optimizer {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
  %h = pipe.all_reduce param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  // expected-note @below {{found this}}
  %g = pipe.wait %h : !pipe.handle<tensor<8xf32>>
  // expected-error @below {{takes something else than the pipe.update of parameter 0}}
  %a = pipe.all_gather %g param(0) communicator(1) : !pipe.handle<tensor<8xf32>>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(2) shard_optimizer {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
^bb0(%before: tensor<8xf32>):
  // expected-error @below {{takes something else than the pipe.update of parameter 0}}
  %a = pipe.all_gather late %before param(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  %v = pipe.wait %a : !pipe.handle<tensor<8xf32>>
  %h = pipe.all_reduce param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  // expected-note @below {{found this}}
  %g = pipe.wait %h : !pipe.handle<tensor<8xf32>>
  pipe.carry %g : tensor<8xf32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(2) shard_optimizer {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
^bb0(%before: tensor<8xf32>):
  // expected-error @below {{is not waited for}}
  %a = pipe.all_gather late %before param(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  %h = pipe.all_reduce scattered param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  %g = pipe.wait %h : !pipe.handle<tensor<8xf32>>
  %w = pipe.update param(0) (%g) : (tensor<8xf32>) -> tensor<8xf32>
  pipe.carry %w : tensor<8xf32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(2) shard_optimizer {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
// expected-error @above {{takes 1 values of the step before, but no pipe.carry at its end gives them}}
^bb0(%before: tensor<8xf32>):
  %a = pipe.all_gather late %before param(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  %v = pipe.wait %a : !pipe.handle<tensor<8xf32>>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(2) shard_optimizer {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) {forward = @f, backward = @b, backward_weight = @b} : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @b(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @rank of @net stage(0) {
^bb0(%before: tensor<8xf32>):
  // expected-note @below {{the gather is here}}
  %a = pipe.all_gather late %before param(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  // expected-error @below {{uses parameter 0 before the shares of the other ranks are there; put the pipe.wait for their gather before it}}
  %y = pipe.forward chunk(0) microbatch(0) () : () -> tensor<f32>
  %v = pipe.wait %a : !pipe.handle<tensor<8xf32>>
  pipe.backward chunk(0) microbatch(0) () : () -> ()
  %h = pipe.all_reduce scattered param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  %g = pipe.wait %h : !pipe.handle<tensor<8xf32>>
  %w = pipe.update param(0) (%g) : (tensor<8xf32>) -> tensor<8xf32>
  pipe.carry %w : tensor<8xf32>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(2) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
  // expected-error @below {{is 'scattered', but updates of stage 0 are not shared out by 'shard_optimizer'}}
  %h = pipe.all_reduce scattered param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
}

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(2) shard_optimizer clip_sync(barrier) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
  // expected-error @below {{is 'scattered', and something else than a pipe.update takes its sum}}
  %h = pipe.all_reduce scattered param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  %g = pipe.wait %h : !pipe.handle<tensor<8xf32>>
  // expected-note @below {{found this}}
  %n = pipe.squared_norm param(0) (%g) : tensor<8xf32>
}
