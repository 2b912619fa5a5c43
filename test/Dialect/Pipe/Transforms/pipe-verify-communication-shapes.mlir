// RUN: veeline-opt %s --pipe-verify-communication=model=mpi --split-input-file --verify-diagnostics -o /dev/null

pipe.program @rank0 of @net stage(0) {
  %n = pipe.length data chunk(0) microbatch(0) () : () -> tensor<i64>
  %y, %r = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.send copying %y edge(0) activation microbatch(0) : tensor<2xf32>
}
pipe.program @rank1 of @net stage(1) {
  // expected-error @below {{receives a value whose length varies, but nothing says its shape: there is no receive of edge(0) shape microbatch(0)}}
  %k = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x = pipe.wait %k : !pipe.handle<tensor<2xf32>>
  %z, %s = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) attributes {pipe.lengths = array<i64: 2>, pipe.versions = []} {
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

pipe.program @rank0 of @net stage(0) {
  %n = pipe.length data chunk(0) microbatch(0) () : () -> tensor<i64>
  %y, %r = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  // expected-error @below {{is sent before its shape; the receiver has to know the shape first}}
  pipe.send copying %y edge(0) activation microbatch(0) : tensor<2xf32>
  // expected-note @below {{rank 0: send of edge 0 shape, microbatch 0, to rank 1 comes later}}
  pipe.send %n edge(0) shape microbatch(0) : tensor<i64>
}
pipe.program @rank1 of @net stage(1) {
  %k = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %h = pipe.recv edge(0) shape microbatch(0) : !pipe.handle<tensor<i64>>
  %x = pipe.wait %k : !pipe.handle<tensor<2xf32>>
  %m = pipe.wait %h : !pipe.handle<tensor<i64>>
  %l = pipe.length chunk(1) microbatch(0) (%m) : (tensor<i64>) -> tensor<i64>
  %z, %s = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) attributes {pipe.lengths = array<i64: 2>, pipe.versions = []} {
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

pipe.program @rank0 of @net stage(0) {
  %n = pipe.length data chunk(0) microbatch(0) () : () -> tensor<i64>
  pipe.send %n edge(0) shape microbatch(0) : tensor<i64>
  %y, %r = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.send copying %y edge(0) activation microbatch(0) : tensor<2xf32>
}
pipe.program @rank1 of @net stage(1) {
  // expected-note @below {{rank 1: receive of edge 0 shape, microbatch 0, from rank 0 says the shape}}
  %h = pipe.recv edge(0) shape microbatch(0) : !pipe.handle<tensor<i64>>
  // expected-error @below {{is waited for before its shape is known}}
  %k = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x = pipe.wait %k : !pipe.handle<tensor<2xf32>>
  %m = pipe.wait %h : !pipe.handle<tensor<i64>>
  %l = pipe.length chunk(1) microbatch(0) (%m) : (tensor<i64>) -> tensor<i64>
  %z, %s = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) attributes {pipe.lengths = array<i64: 2>, pipe.versions = []} {
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

// Right under these rules, whatever was posted first.

pipe.program @rank0 of @net stage(0) {
  %n = pipe.length data chunk(0) microbatch(0) () : () -> tensor<i64>
  pipe.send %n edge(0) shape microbatch(0) : tensor<i64>
  %y, %r = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  pipe.send copying %y edge(0) activation microbatch(0) : tensor<2xf32>
}
pipe.program @rank1 of @net stage(1) {
  %k = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %h = pipe.recv edge(0) shape microbatch(0) : !pipe.handle<tensor<i64>>
  %m = pipe.wait %h : !pipe.handle<tensor<i64>>
  %l = pipe.length chunk(1) microbatch(0) (%m) : (tensor<i64>) -> tensor<i64>
  %x = pipe.wait %k : !pipe.handle<tensor<2xf32>>
  %z, %s = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> (tensor<f32>, tensor<3xf32>)
}
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) attributes {pipe.lengths = array<i64: 2>, pipe.versions = []} {
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
