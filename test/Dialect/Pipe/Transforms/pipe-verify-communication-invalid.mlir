// RUN: veeline-opt %s --pipe-verify-communication --split-input-file --verify-diagnostics

// Each rank has its receive before its send on one communicator.
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
  // expected-note @below {{rank 0: receive of edge 0 gradient, microbatch 0, from rank 1 waits for the send of edge 0 gradient, microbatch 0, to rank 0 (op 2 of rank 1), which comes after what rank 1 is at}}
  %h = pipe.recv edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
  pipe.send %0 edge(0) activation microbatch(0) : tensor<2xf32>
  %d = pipe.wait %h : !pipe.handle<tensor<2xf32>>
}
pipe.program @net_rank1 of @net stage(1) {
  // expected-note @below {{rank 1: receive of edge 0 activation, microbatch 0, from rank 0 waits for the send}}
  %h = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<2xf32>>
  pipe.send %x edge(0) gradient microbatch(0) : tensor<2xf32>
}

// -----

// A send that nobody receives.
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
  // expected-error @below {{has no receive: it may wait for ever}}
  pipe.send %0 edge(0) activation microbatch(0) : tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
}

// -----

// A receive that nobody sends.
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
}
pipe.program @net_rank1 of @net stage(1) {
  // expected-error @below {{has no send: nothing ever arrives}}
  %h = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<2xf32>>
}

// -----

// One message twice.
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
  // expected-note @below {{is the other one}}
  pipe.send %0 edge(0) activation microbatch(0) : tensor<2xf32>
  // expected-error @below {{has the identity of another message; edge, direction and microbatch say which message it is}}
  pipe.send %0 edge(0) activation microbatch(0) : tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %h = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<2xf32>>
}

// -----

// A handle that is forgotten.
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
  pipe.send %0 edge(0) activation microbatch(0) : tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  // expected-error @below {{makes a handle that nothing waits for}}
  %h = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
}

// -----

// Ends on different communicators.
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
  // expected-error @below {{is on communicator 0, but is received on communicator 1}}
  pipe.send %0 edge(0) activation microbatch(0) : tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  // expected-note @below {{is the other end}}
  %h = pipe.recv edge(0) activation microbatch(0) communicator(1) : !pipe.handle<tensor<2xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<2xf32>>
}

// -----

// Messages that overtake each other: without tags the first receive takes the first message.
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
  %1 = pipe.forward chunk(0) microbatch(1) () : () -> tensor<2xf32>
  pipe.send %0 edge(0) activation microbatch(0) : tensor<2xf32>
  // expected-note @below {{is number 1 of the sends}}
  pipe.send %1 edge(0) activation microbatch(1) : tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  // expected-error @below {{is number 0 of the receives from rank 0 on communicator 0, which without tags takes message number 0, not its own}}
  %h1 = pipe.recv edge(0) activation microbatch(1) : !pipe.handle<tensor<2xf32>>
  %h0 = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x1 = pipe.wait %h1 : !pipe.handle<tensor<2xf32>>
  %x0 = pipe.wait %h0 : !pipe.handle<tensor<2xf32>>
}

// -----

// Two streams and two communicators: either may keep the other from running.
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
  %1 = pipe.forward chunk(0) microbatch(1) () : () -> tensor<2xf32>
  // expected-note @below {{is the other one}}
  %h = pipe.recv edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
  // expected-error @below {{may be under way at once with another operation, on stream 1 and communicator 0, while it is on stream 2 and communicator 1}}
  pipe.send %0 edge(0) activation microbatch(0) stream(2) communicator(1) : tensor<2xf32>
  %d = pipe.wait %h : !pipe.handle<tensor<2xf32>>
}
pipe.program @net_rank1 of @net stage(1) {
  %h = pipe.recv edge(0) activation microbatch(0) stream(2) communicator(1) : !pipe.handle<tensor<2xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<2xf32>>
  pipe.send %x edge(0) gradient microbatch(0) : tensor<2xf32>
}

// -----

// A group that computing interrupts.
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
  // expected-note @below {{began the group}}
  pipe.send %0 edge(0) activation microbatch(0) group(0) : tensor<2xf32>
  %1 = pipe.forward chunk(0) microbatch(1) () : () -> tensor<2xf32>
  // expected-error @below {{goes on with a group that has ended; a group is begun and ended once}}
  pipe.send %1 edge(0) activation microbatch(1) group(0) : tensor<2xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %h0 = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x0 = pipe.wait %h0 : !pipe.handle<tensor<2xf32>>
  %h1 = pipe.recv edge(0) activation microbatch(1) : !pipe.handle<tensor<2xf32>>
  %x1 = pipe.wait %h1 : !pipe.handle<tensor<2xf32>>
}
