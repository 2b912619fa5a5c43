// RUN: veeline-opt %s --pipe-insert-communication --split-input-file --verify-diagnostics

// A value that its producer's program does not compute.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<2xf32>) -> tensor<2xf32>
func.func private @f(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<2xf32>) -> tensor<f32>
func.func private @g(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.predicted = array<f64: 0.0, 1.0>} : () -> tensor<2xf32>
  // expected-error @below {{is a value that no program of the pipeline computes}}
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) {pipe.predicted = array<f64: 0.0, 1.0>} : (tensor<2xf32>) -> tensor<f32>
}

// -----

// A value that is wanted twice.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<2xf32>) -> tensor<2xf32>
func.func private @f(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<2xf32>) -> tensor<f32>
func.func private @g(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.predicted = array<f64: 0.0, 1.0>} : () -> tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  // expected-note @below {{the first one is here}}
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  // expected-error @below {{stands twice; a value travels once}}
  %1 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %2 = pipe.forward chunk(1) microbatch(0) (%1) {pipe.predicted = array<f64: 1.0, 2.0>} : (tensor<2xf32>) -> tensor<f32>
}

// -----

// Programs without times that are no schedule cannot be simulated.
// expected-error @below {{stage 0 never runs F of chunk 0, microbatch 0}}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g, backward = @b} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<2xf32>) -> tensor<2xf32>
func.func private @f(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<2xf32>) -> tensor<f32>
func.func private @g(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @b(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>})
pipe.program @net_rank0 of @net stage(0) {
}
pipe.program @net_rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
}

// -----

// A stage without a program, the last one and the first one.
// expected-error @below {{has 2 stages, but stage 1 has no program; run --pipe-schedule, or write one for each}}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<2xf32>) -> tensor<2xf32>
func.func private @f(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<2xf32>) -> tensor<f32>
func.func private @g(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.predicted = array<f64: 0.0, 1.0>} : () -> tensor<2xf32>
}

// -----

// expected-error @below {{has 2 stages, but stage 0 has no program; run --pipe-schedule, or write one for each}}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<2xf32>) -> tensor<2xf32>
func.func private @f(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<2xf32>) -> tensor<f32>
func.func private @g(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) {pipe.predicted = array<f64: 1.0, 2.0>} : (tensor<2xf32>) -> tensor<f32>
}

// -----

// A stage with two.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<2xf32>) -> tensor<2xf32>
func.func private @f(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<2xf32>) -> tensor<f32>
func.func private @g(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
// expected-note @below {{the other one is here}}
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.predicted = array<f64: 0.0, 1.0>} : () -> tensor<2xf32>
}
// expected-error @below {{is a second program of stage 0; a stage runs one}}
pipe.program @net_again of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.predicted = array<f64: 0.0, 1.0>} : () -> tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) {pipe.predicted = array<f64: 1.0, 2.0>} : (tensor<2xf32>) -> tensor<f32>
}

// -----

// Programs that say times are checked all the same: work that is done twice.
// expected-error @below {{stage 0, step 1: F of chunk 0, microbatch 0 is done already at step 0}}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<2xf32>) -> tensor<2xf32>
func.func private @f(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<2xf32>) -> tensor<f32>
func.func private @g(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.predicted = array<f64: 0.0, 1.0>} : () -> tensor<2xf32>
  %1 = pipe.forward chunk(0) microbatch(0) () {pipe.predicted = array<f64: 1.0, 2.0>} : () -> tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) {pipe.predicted = array<f64: 1.0, 2.0>} : (tensor<2xf32>) -> tensor<f32>
}
