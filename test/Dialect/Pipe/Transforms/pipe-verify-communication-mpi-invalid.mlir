// RUN: veeline-opt %s --pipe-verify-communication=model=mpi --split-input-file --verify-diagnostics

// Each rank computes straight into memory that the other offers afterwards.
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
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  // expected-error @below {{can wait for ever: 2 ranks wait for each other in a circle}}
  // expected-note @below {{rank 0: send of edge 0 activation, microbatch 0, to rank 1 waits for the receive of edge 0 activation}}
  pipe.send copying %0 edge(0) activation microbatch(0) : tensor<2xf32>
  %h = pipe.recv edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
  %d = pipe.wait %h : !pipe.handle<tensor<2xf32>>
}
pipe.program @net_rank1 of @net stage(1) {
  %v = pipe.edge_value edge(0) activation microbatch(1) : tensor<2xf32>
  // expected-note @below {{rank 1: send of edge 0 gradient, microbatch 0, to rank 0 waits for the receive of edge 0 gradient}}
  pipe.send %v edge(0) gradient microbatch(0) : tensor<2xf32>
  %h = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<2xf32>>
}

// -----

// The forward of rank 0 computes into the receiver's memory, so it waits before it begins, and rank 1 for what comes after it.
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
  %v = pipe.edge_value edge(0) gradient microbatch(1) : tensor<2xf32>
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  // expected-error @below {{can wait for ever: 2 ranks}}
  // expected-note @below {{rank 0: wait for the receiver's memory for edge 0 activation, microbatch 0 waits for the receive of edge 0 activation}}
  pipe.send %0 edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(0) microbatch(1) () : () -> tensor<2xf32>
  pipe.send copying %1 edge(0) activation microbatch(1) : tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %v = pipe.edge_value edge(0) activation microbatch(2) : tensor<2xf32>
  %h1 = pipe.recv edge(0) activation microbatch(1) : !pipe.handle<tensor<2xf32>>
  // expected-note @below {{rank 1: wait for handle 0 waits for the send of edge 0 activation, microbatch 1, to rank 1}}
  %x1 = pipe.wait %h1 : !pipe.handle<tensor<2xf32>>
  %h0 = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x0 = pipe.wait %h0 : !pipe.handle<tensor<2xf32>>
}
