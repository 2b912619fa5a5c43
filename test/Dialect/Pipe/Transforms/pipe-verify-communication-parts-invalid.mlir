// RUN: veeline-opt %s --pipe-verify-communication=model=mpi --split-input-file --verify-diagnostics -o /dev/null
// RUN: veeline-opt %s --pipe-verify-communication=model=nccl --split-input-file --verify-diagnostics -o /dev/null

// The two ends of a message have other parts.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<4xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<4xf32>) -> tensor<f32>
func.func private @g(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<4xf32>
  // expected-note @below {{the other end is here}}
  pipe.send copying %0 edge(0) activation microbatch(0) parts(2) : tensor<4xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  // expected-error @below {{has 4 parts, but the other end of its message has 2 parts}}
  %h = pipe.recv edge(0) activation microbatch(0) parts(4) : !pipe.handle<tensor<4xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<4xf32>>
}

// -----

// One of them has none.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<4xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<4xf32>) -> tensor<f32>
func.func private @g(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<4xf32>
  // expected-note @below {{the other end is here}}
  pipe.send copying %0 edge(0) activation microbatch(0) parts(2) : tensor<4xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  // expected-error @below {{has 1 part, but the other end of its message has 2 parts}}
  %h = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<4xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<4xf32>>
}

// -----

// Two messages of an edge and direction have other parts.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<4xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<4xf32>) -> tensor<f32>
func.func private @g(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<4xf32>
  // expected-note @below {{the other one is here}}
  pipe.send copying %0 edge(0) activation microbatch(0) parts(2) : tensor<4xf32>
  %1 = pipe.forward chunk(0) microbatch(1) () : () -> tensor<4xf32>
  // expected-error @below {{has 3 parts, but another message of its edge and direction has 2 parts; all of them have as many}}
  pipe.send copying %1 edge(0) activation microbatch(1) parts(3) : tensor<4xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %h = pipe.recv edge(0) activation microbatch(0) parts(2) : !pipe.handle<tensor<4xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<4xf32>>
  %i = pipe.recv edge(0) activation microbatch(1) parts(3) : !pipe.handle<tensor<4xf32>>
  %y = pipe.wait %i : !pipe.handle<tensor<4xf32>>
}

// -----

// A part is what nobody receives.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<4xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<4xf32>) -> tensor<f32>
func.func private @g(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<4xf32>
  // expected-error @below {{has no receive: it may wait for ever}}
  pipe.send copying %0 edge(0) activation microbatch(0) parts(2) : tensor<4xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %v = pipe.edge_value edge(0) activation microbatch(0) : tensor<4xf32>
}

// -----

// Parts wait for each other as messages do; the notes say which.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<4xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<4xf32>) -> tensor<f32>
func.func private @g(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<4xf32>
  // expected-error @below {{can wait for ever: 2 ranks wait for each other in a circle}}
  // expected-note @below {{rank 0: send of edge 0 activation, microbatch 0, part 0, to rank 1 waits for the receive of edge 0 activation, microbatch 0, part 0, from rank 0}}
  pipe.send copying %0 edge(0) activation microbatch(0) parts(2) : tensor<4xf32>
  %h = pipe.recv edge(0) gradient microbatch(0) parts(4) : !pipe.handle<tensor<4xf32>>
  %d = pipe.wait %h : !pipe.handle<tensor<4xf32>>
}
pipe.program @net_rank1 of @net stage(1) {
  %v = pipe.edge_value edge(0) activation microbatch(1) : tensor<4xf32>
  // expected-note @below {{rank 1: send of edge 0 gradient, microbatch 0, part 0, to rank 0 waits for the receive of edge 0 gradient, microbatch 0, part 0}}
  pipe.send copying %v edge(0) gradient microbatch(0) parts(4) : tensor<4xf32>
  %h = pipe.recv edge(0) activation microbatch(0) parts(2) : !pipe.handle<tensor<4xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<4xf32>>
}

// -----

// The shortest value has fewer elements than parts.
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) attributes {pipe.lengths = array<i64: 2, 4>, pipe.versions = [@short]} {
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.chunk 1 @l(%0) {forward = @g} : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>) -> tensor<4xf32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<4xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l(tensor<4xf32>) -> tensor<f32>
func.func private @g(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.pipeline @short stages(2) chunks_per_stage(1) placement(linear) attributes {pipe.length = 2 : i64} {
  %x = pipe.batch "x" : tensor<2xf32>
  %0 = pipe.chunk 0 @c2(%x) {forward = @f2} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @l2(%0) {forward = @g2} : (tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c2(tensor<2xf32>) -> tensor<2xf32>
func.func private @f2(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @l2(tensor<2xf32>) -> tensor<f32>
func.func private @g2(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.program @net_rank0 of @net stage(0) {
  %n = pipe.length data chunk(0) microbatch(0) () : () -> tensor<i64>
  pipe.send copying %n edge(0) shape microbatch(0) : tensor<i64>
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<4xf32>
  // expected-error @below {{has 3 parts, but its value may be as short as 2 elements}}
  pipe.send copying %0 edge(0) activation microbatch(0) parts(3) : tensor<4xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %k = pipe.recv edge(0) shape microbatch(0) : !pipe.handle<tensor<i64>>
  %m = pipe.wait %k : !pipe.handle<tensor<i64>>
  %h = pipe.recv edge(0) activation microbatch(0) parts(3) : !pipe.handle<tensor<4xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<4xf32>>
}
