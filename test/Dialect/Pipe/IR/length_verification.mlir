// RUN: veeline-opt %s --split-input-file --verify-diagnostics -o /dev/null

pipe.program @rank of @net stage(0) {
  // expected-error @below {{is of chunk 2, but the pipeline has 2}}
  %n = pipe.length data chunk(2) microbatch(0) () : () -> tensor<i64>
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c0_backward(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c1_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_backward_input(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
func.func private @c1_backward_weight(tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})

// -----

pipe.program @rank of @net stage(0) {
  // expected-error @below {{is about microbatch 2, but the pipeline has 2}}
  %n = pipe.length data chunk(0) microbatch(2) () : () -> tensor<i64>
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c0_backward(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c1_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_backward_input(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
func.func private @c1_backward_weight(tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})

// -----

pipe.program @rank of @net stage(0) {
  // expected-error @below {{result #0 must be 0D tensor of 64-bit signless integer values, but got 'tensor<i32>'}}
  %n = pipe.length data chunk(0) microbatch(0) () : () -> tensor<i32>
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c0_backward(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c1_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_backward_input(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
func.func private @c1_backward_weight(tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})

// -----

pipe.program @rank of @net stage(1) {
  // expected-error @below {{carries 'tensor<2xf32>' on edge 0, which is of type 'tensor<i64>'}}
  %n = pipe.edge_value edge(0) shape microbatch(0) : tensor<2xf32>
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c0_backward(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c1_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_backward_input(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
func.func private @c1_backward_weight(tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})

// -----

pipe.program @rank of @net stage(0) {
  // expected-error @below {{is at the end of edge 0 that is chunk 1 on stage 1, not stage 0}}
  %n = pipe.edge_value edge(0) shape microbatch(0) : tensor<i64>
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c0_backward(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c1_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_backward_input(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
func.func private @c1_backward_weight(tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})

// -----

pipe.program @rank of @net stage(1) {
  // expected-error @below {{is about the shape of edge 1, a parameter, whose shape is known}}
  %n = pipe.edge_value edge(1) shape microbatch(0) : tensor<i64>
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c0_backward(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c1_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_backward_input(tensor<4xf32> {pipe.role = #pipe.role<operand 1>}, tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
func.func private @c1_backward_weight(tensor<5xf32> {pipe.role = #pipe.role<saved 0>})
    -> (tensor<4xf32> {pipe.role = #pipe.role<param_grad 1>})
