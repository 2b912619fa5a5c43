// RUN: veeline-opt %s --pipe-assign-streams | FileCheck %s
// Again, nothing changes.
// RUN: veeline-opt %s --pipe-assign-streams --pipe-assign-streams | FileCheck %s

// A V of two ranks. On the second one chunk 1 hands a value to chunk 2, and 2 a
// gradient to 1: chunk 1 has stream 0, and chunk 2 stream 1.
// CHECK-LABEL: pipe.program @net_rank1
// CHECK-SAME:    pipe.compute_streams = array<i64: 2, 1>
// What chunk 1 receives is of its stream.
// CHECK-NEXT:    pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
// CHECK-NEXT:    pipe.wait %{{.*}} : !pipe.handle<tensor<2xf32>>
// CHECK-NEXT:    pipe.forward chunk(1) microbatch(0) (%{{.*}}) {pipe.recorded_event = 0 : i64}
// CHECK-NEXT:    pipe.forward chunk(2) microbatch(0) (%{{.*}}) {pipe.awaited_events = array<i64: 0>, pipe.compute_stream = 1 : i64}
// What chunk 2 sends and receives is of its stream.
// CHECK-NEXT:    pipe.send %{{.*}} edge(3) activation microbatch(0) {pipe.compute_stream = 1 : i64}
// CHECK-NEXT:    pipe.recv edge(3) gradient microbatch(0) {pipe.compute_stream = 1 : i64}
// CHECK-NEXT:    pipe.wait %{{.*}} {pipe.compute_stream = 1 : i64}
// The event is used again. That chunk 1 is over which has made the other operand
// is known since the forward.
// CHECK-NEXT:    pipe.backward_input chunk(2) microbatch(0) {{.*}} {pipe.compute_stream = 1 : i64, pipe.recorded_event = 0 : i64}
// CHECK-NEXT:    pipe.backward_input chunk(1) microbatch(0) {{.*}} {pipe.awaited_events = array<i64: 0>}
// CHECK-NEXT:    pipe.send %{{.*}} edge(0) gradient microbatch(0) :
// CHECK-NEXT:    pipe.backward_weight chunk(2) microbatch(0) {{.*}} {pipe.compute_stream = 1 : i64} :
// CHECK-NEXT:    pipe.backward_weight chunk(1) microbatch(0) {{.*}}) : (
// Gradients of chunk 2 are posted where they are computed, and waited for where
// parameters are updated: the wait says that the stream has come to the post.
// CHECK-NEXT:    pipe.all_reduce param(2) chunk(2) communicator(2) {pipe.compute_stream = 1 : i64}
// CHECK-NEXT:    pipe.wait %{{.*}} : !pipe.handle<tensor<2xf32>>
// CHECK-NEXT:    pipe.update param(2) (%{{.*}}) : (
// CHECK-NEXT:    pipe.gradient
// CHECK-NEXT:    pipe.update param(1) (%{{.*}}) : (

// Sums of gradients are of the stream that uses them; a parameter's gradient is
// sent where it is added up. New values wait for all who read the old ones.
// CHECK-LABEL: pipe.program @net_rank0
// CHECK-SAME:    pipe.compute_streams = array<i64: 2, 1>
// CHECK-NEXT:    pipe.forward chunk(0) microbatch(0)
// CHECK-NEXT:    pipe.recv edge(0) gradient microbatch(0) : !pipe.handle
// CHECK-NEXT:    pipe.wait
// CHECK-NEXT:    pipe.backward_input chunk(3) microbatch(0) {{.*}} {pipe.awaited_events = array<i64: 0>, pipe.compute_stream = 1 : i64, pipe.recorded_event = 0 : i64}
// CHECK-NEXT:    pipe.add %{{.*}}, %{{.*}} {pipe.awaited_events = array<i64: 0>} : tensor<2xf32>
// CHECK-NEXT:    pipe.backward_weight chunk(0) microbatch(0)
// CHECK-NEXT:    pipe.backward_weight chunk(3) microbatch(0)
// CHECK-NEXT:    pipe.gradient param(2) chunk(3)
// CHECK-NEXT:    pipe.send %{{.*}} edge(4) gradient microbatch(0) {pipe.compute_stream = 1 : i64}
// CHECK-NEXT:    pipe.recv edge(4) activation microbatch(0) : !pipe.handle
// CHECK-NEXT:    pipe.wait %{{.*}} : !pipe.handle
// CHECK-NEXT:    pipe.assign param(2) %{{.*}} {pipe.awaited_events = array<i64: 0>}

// One chunk a rank, and a schedule in which nothing is to run side by side: one
// stream.
// CHECK-LABEL: pipe.pipeline @straight
// CHECK-NOT:     pipe.compute_stream
// CHECK-NOT:     _event

pipe.pipeline @net stages(2) chunks_per_stage(2) placement(v) microbatches(2) replicas(2) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %u = pipe.param <"u", init = zeros> : tensor<2xf32>
  %v = pipe.param <"v", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward_weight = @w0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %u) {forward = @f1, backward_input = @b1, backward_weight = @w1} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = pipe.chunk 2 @c2(%1, %v) {forward = @f2, backward_input = @b2, backward_weight = @w2} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = pipe.chunk 3 @c3(%2, %v, %0) {forward = @f3, backward_input = @b3, backward_weight = @w3} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  pipe.yield %3 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c2(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c3(tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
func.func private @f0(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<operand 1>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @f1(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<operand 1>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @f2(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<operand 1>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @f3(tensor<2xf32> {pipe.role = #pipe.role<operand 2>}, tensor<2xf32> {pipe.role = #pipe.role<operand 1>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @b1(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>})
func.func private @b2(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}, tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>})
func.func private @b3(tensor<2xf32> {pipe.role = #pipe.role<operand 2>}) -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 2>})
func.func private @w0(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @w1(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @w2(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @w3(tensor<2xf32> {pipe.role = #pipe.role<operand 2>}) -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @net_rank1 of @net stage(1) {
  %h = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x = pipe.wait %h : !pipe.handle<tensor<2xf32>>
  %y = pipe.forward chunk(1) microbatch(0) (%x) : (tensor<2xf32>) -> tensor<2xf32>
  %z = pipe.forward chunk(2) microbatch(0) (%y) : (tensor<2xf32>) -> tensor<2xf32>
  pipe.send %z edge(3) activation microbatch(0) : tensor<2xf32>
  %k = pipe.recv edge(3) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
  %dz = pipe.wait %k : !pipe.handle<tensor<2xf32>>
  %dy = pipe.backward_input chunk(2) microbatch(0) (%dz, %y) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %dx = pipe.backward_input chunk(1) microbatch(0) (%dy) : (tensor<2xf32>) -> tensor<2xf32>
  pipe.send %dx edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward_weight chunk(2) microbatch(0) (%dz) : (tensor<2xf32>) -> ()
  pipe.backward_weight chunk(1) microbatch(0) (%dy) : (tensor<2xf32>) -> ()
  %a = pipe.all_reduce param(2) chunk(2) communicator(2) : !pipe.handle<tensor<2xf32>>
  %gv = pipe.wait %a : !pipe.handle<tensor<2xf32>>
  %v = pipe.update param(2) (%gv) : (tensor<2xf32>) -> tensor<2xf32>
  %gu = pipe.gradient param(1) chunk(1) : tensor<2xf32>
  %u = pipe.update param(1) (%gu) : (tensor<2xf32>) -> tensor<2xf32>
}
pipe.program @net_rank0 of @net stage(0) {
  %y = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %h = pipe.recv edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
  %d0 = pipe.wait %h : !pipe.handle<tensor<2xf32>>
  %d1 = pipe.backward_input chunk(3) microbatch(0) (%y) : (tensor<2xf32>) -> tensor<2xf32>
  %d = pipe.add %d0, %d1 : tensor<2xf32>
  pipe.backward_weight chunk(0) microbatch(0) (%d) : (tensor<2xf32>) -> ()
  pipe.backward_weight chunk(3) microbatch(0) (%y) : (tensor<2xf32>) -> ()
  %g = pipe.gradient param(2) chunk(3) : tensor<2xf32>
  pipe.send %g edge(4) gradient microbatch(0) : tensor<2xf32>
  %k = pipe.recv edge(4) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %w = pipe.wait %k : !pipe.handle<tensor<2xf32>>
  pipe.assign param(2) %w : tensor<2xf32>
}
func.func private @s0(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
func.func private @s1(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
pipe.pipeline @straight stages(1) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @s0(%x, %w) {forward = @s1} : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
pipe.program @straight_rank0 of @straight stage(0) {
  %y = pipe.forward chunk(0) microbatch(0) () : () -> tensor<f32>
}
pipe.pipeline @ordered stages(1) chunks_per_stage(2) placement(v) microbatches(1) schedule("sequential") {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @s0(%0, %w) {forward = @s1} : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
pipe.program @ordered_rank0 of @ordered stage(0) {
  %y = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %z = pipe.forward chunk(1) microbatch(0) (%y) : (tensor<2xf32>) -> tensor<f32>
}
