// RUN: veeline-opt %s --pipe-insert-communication --split-input-file --verify-diagnostics

// What programs must do with the gradients of parameters.

// One of two gradients.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %2 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  // expected-error @below {{does not add up the gradients of parameter 0, which are those of chunk 0, 1 in this order, each once}}
  %4 = pipe.update param(0) (%2) : (tensor<8xf32>) -> tensor<8xf32>
}
pipe.program @rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  %4 = pipe.edge_value edge(1) activation microbatch(0) : tensor<8xf32>
  pipe.assign param(0) %4 : tensor<8xf32>
}

// -----

// One gradient twice.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %2 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  // expected-error @below {{does not add up the gradients of parameter 0, which are those of chunk 0, 1 in this order, each once}}
  %4 = pipe.update param(0) (%2, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}
pipe.program @rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  %4 = pipe.edge_value edge(1) activation microbatch(0) : tensor<8xf32>
  pipe.assign param(0) %4 : tensor<8xf32>
}

// -----

// Gradients in another order: other bits.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %2 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %3 = pipe.edge_value edge(1) gradient microbatch(0) : tensor<8xf32>
  // expected-error @below {{does not add up the gradients of parameter 0, which are those of chunk 0, 1 in this order, each once}}
  %4 = pipe.update param(0) (%3, %2) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}
pipe.program @rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  %4 = pipe.edge_value edge(1) activation microbatch(0) : tensor<8xf32>
  pipe.assign param(0) %4 : tensor<8xf32>
}

// -----

// An update elsewhere than at home.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %2 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
}
pipe.program @rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  // expected-error @below {{is on stage 1, but parameter 0 is updated on stage 0, where the first chunk is that uses it}}
  %4 = pipe.update param(0) (%3) : (tensor<8xf32>) -> tensor<8xf32>
}

// -----

// One parameter is updated and the other forgotten.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  // expected-error @below {{has gradients, but no program updates it, while others are updated}}
  %v = pipe.param <"v", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w, %v) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>}, tensor<4xf32> {pipe.role = #pipe.role<operand 2>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 2>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %2 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %3 = pipe.edge_value edge(1) gradient microbatch(0) : tensor<8xf32>
  // expected-note @below {{another parameter is updated here}}
  %4 = pipe.update param(0) (%2, %3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}
pipe.program @rank1 of @net stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
  %3 = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  %4 = pipe.edge_value edge(1) activation microbatch(0) : tensor<8xf32>
  pipe.assign param(0) %4 : tensor<8xf32>
}

// -----

// A gradient that is read too early.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @rank0 of @net stage(0) {
  // expected-note @below {{they are read here}}
  %2 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  // expected-error @below {{adds to the gradients of chunk 0 after they were read; read them after the last microbatch}}
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
}

// -----

// A gradient that is read twice.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  // expected-note @below {{the first time is here}}
  %2 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  // expected-error @below {{reads the sum of parameter 0 and chunk 0 a second time}}
  %3 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
}

// -----

// A parameter that is updated twice.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%1) : (tensor<2xf32>) -> ()
  %2 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %3 = pipe.edge_value edge(1) gradient microbatch(0) : tensor<8xf32>
  // expected-note @below {{the first time is here}}
  %4 = pipe.update param(0) (%2, %3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  // expected-error @below {{updates parameter 0 a second time}}
  %5 = pipe.update param(0) (%2, %3) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}
