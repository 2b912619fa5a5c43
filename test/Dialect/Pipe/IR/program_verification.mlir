// RUN: veeline-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{refers to @other, which is not a pipe.pipeline of this module}}
pipe.program @rank of @other stage(0) {
  
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

// expected-error @below {{is for stage 2, but the pipeline has 2 stages}}
pipe.program @rank of @net stage(2) {
  
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
  // expected-error @below {{does not belong in a pipe.program}}
  %e = arith.constant dense<0.0> : tensor<f32>
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
  // expected-error @below {{runs chunk 2, but the pipeline has 2}}
  %y, %r = pipe.forward chunk(2) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
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
  // expected-error @below {{runs chunk 0, which is placed on stage 0, on stage 1}}
  %y, %r = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
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
  %y, %r = pipe.forward chunk(0) microbatch(2) () : () -> (tensor<2xf32>, tensor<3xf32>)
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
  %y = pipe.edge_value edge(0) gradient microbatch(2) : tensor<2xf32>
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
  // expected-error @below {{has 1 results, expected 2}}
  %y = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
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
  // expected-error @below {{result 1 is residual 0 of the chunk, of type 'tensor<3xf32>', found 'tensor<2xf32>'}}
  %y, %r = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<2xf32>)
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
  // expected-error @below {{has 0 operands, expected 1}}
  %y, %r = pipe.forward chunk(1) microbatch(0) () : () -> (tensor<f32>, tensor<3xf32>)
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
  %x = pipe.edge_value edge(1) activation microbatch(0) : tensor<4xf32>
  // expected-error @below {{operand 0 is operand 0 of the chunk, of type 'tensor<2xf32>', found 'tensor<4xf32>'}}
  %y, %r = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<4xf32>) -> (tensor<f32>, tensor<3xf32>)
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
  // expected-error @below {{runs the backward_input function of chunk 0, which has none}}
  pipe.backward_input chunk(0) microbatch(0) () : () -> ()
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  // expected-note @below {{the chunk is here}}
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
  %y, %r = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
// expected-error @below {{argument 1 of a chunk's function has no 'pipe.role'}}
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32>)
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
  %y, %r = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
// expected-error @below {{arguments: the role operand 0 stands twice}}
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 0>})
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
  %y, %r = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_backward_input, backward_weight = @c1_backward_weight} : (tensor<2xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<4xf32>) -> tensor<2xf32>
// expected-error @below {{result 1 of a chunk's function is a tensor of static shape, found 'f32'}}
func.func private @c0_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>}, f32 {pipe.role = #pipe.role<residual 0>})
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
  %g = pipe.gradient param(0) chunk(0) : tensor<4xf32>
  %d = pipe.edge_value edge(1) gradient microbatch(0) : tensor<4xf32>
  // expected-note @below {{it changes here}}
  %w = pipe.update param(0) (%g, %d) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{may use a parameter of chunk 0 after it has changed; it changes after all ops of the chunk}}
  %0:2 = pipe.forward chunk(0) microbatch(1) () : () -> (tensor<2xf32>, tensor<3xf32>)
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
