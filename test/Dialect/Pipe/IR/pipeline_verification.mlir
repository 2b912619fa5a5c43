// RUN: veeline-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{ends with a pipe.yield of the loss}}
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

// expected-error @below {{attribute 'stages' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
pipe.pipeline @net stages(0) chunks_per_stage(1) placement(linear) {
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

// expected-error @below {{placement 'linear' has 1 chunk a stage, found 2}}
pipe.pipeline @net stages(1) chunks_per_stage(2) placement(linear) {
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

// expected-error @below {{placement 'v' has 2 chunks a stage, found 1}}
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(v) {
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-note @below {{the other one is here}}
  %a = pipe.param <"x", init = zeros> : tensor<f32>
  // expected-error @below {{takes the name "x", which another input of the pipeline has}}
  %b = pipe.batch "x" : tensor<f32>
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-note @below {{the other one is here}}
  %a = pipe.buffer "x" loss_scale : tensor<f32>
  // expected-error @below {{is a second loss scale}}
  %b = pipe.buffer "y" loss_scale : tensor<f32>
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{is a loss scale, a tensor<f32> or tensor<f64>; found 'tensor<1xf32>'}}
  %a = pipe.buffer "x" loss_scale : tensor<1xf32>
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-note @below {{the other one is here}}
  %a = pipe.batch "x" loss_weight : tensor<f32>
  // expected-error @below {{is a second loss weight}}
  %b = pipe.batch "y" loss_weight : tensor<f32>
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{is a loss weight, a tensor<f32> or tensor<f64>; found 'tensor<i32>'}}
  %a = pipe.batch "x" loss_weight : tensor<i32>
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>

// -----

// expected-error @below {{is 'asynchronous(stashed)' and has a loss weight, but each microbatch has an update, of which the others are no part}}
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(2) asynchronous(stashed) {
  %a = pipe.batch "x" loss_weight : tensor<f32>
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  // expected-error @below {{has 2 names for 1 results}}
  pipe.yield %0 as ["loss", "tokens"] : tensor<f32>
}
func.func private @c() -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-note @below {{the other one is here}}
  %a = pipe.buffer "x" : tensor<f32>
  // expected-error @below {{takes the name "x", which another input of the pipeline has}}
  %b = pipe.buffer "x" : tensor<f32>
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{does not belong in a pipe.pipeline}}
  %e = arith.constant dense<0.0> : tensor<f32>
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{is chunk 1 where chunk 0 is next: chunks are numbered in model order}}
  %0 = pipe.chunk 1 @c() : () -> tensor<f32>
  %1 = pipe.chunk 0 @d(%0) : (tensor<f32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

// expected-error @below {{has 1 chunk, but stages(2) times chunks_per_stage(1) is 2}}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  // expected-error @below {{yields the loss first: a float tensor of rank 0, as tensor<f32>}}
  "pipe.yield"() : () -> ()
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  // expected-error @below {{yields the loss first: a float tensor of rank 0, as tensor<f32>}}
  pipe.yield %x, %0 : tensor<4xf32>, tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  // expected-error @below {{result #0 must be statically shaped tensor of any type values, but got 'tensor<?xf32>'}}
  %x = pipe.batch "x" : tensor<?xf32>
  %0 = pipe.chunk 0 @c() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>

// -----

func.func @f() {
  // expected-error @below {{expects parent op 'pipe.pipeline'}}
  %x = pipe.batch "x" : tensor<f32>
  return
}
func.func private @c() -> tensor<f32>
func.func private @d(tensor<f32>) -> tensor<f32>
