// RUN: veeline-opt %s --pipe-plan-memory=target=cuda | FileCheck %s
// RUN: sed 's/stream(2) //' %s | veeline-opt --pipe-plan-memory=target=cuda | FileCheck %s --check-prefix=ONE

// Where messages are received on a stream of their own, what is sent stays until
// the next send: a receive that is posted says nothing of it.
// CHECK-LABEL: pipe.program @net_rank0
// CHECK:         pipe.forward chunk(0) microbatch(0) () {pipe.offsets = array<i64: [[Y0:[0-9]+]]>
// CHECK:         pipe.recv edge(0) gradient
// CHECK-NOT:     pipe.offsets = array<i64: [[Y0]]>
// CHECK:         pipe.send {{.*}} microbatch(1)
// CHECK-NEXT:    pipe.forward chunk(0) microbatch(2) () {pipe.offsets = array<i64: [[Y0]]>

// On one stream the post waits for the send.
// ONE-LABEL: pipe.program @net_rank0
// ONE:         pipe.forward chunk(0) microbatch(0) () {pipe.offsets = array<i64: [[Y0:[0-9]+]]>
// ONE:         pipe.recv edge(0) gradient
// ONE-NEXT:    pipe.forward chunk(0) microbatch(1) () {pipe.offsets = array<i64: [[Y0]]>

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(3) {
  %x = pipe.batch "x" : tensor<64xf32>
  %0 = pipe.chunk 0 @c0(%x) {forward = @f0} : (tensor<64xf32>) -> tensor<64xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1} : (tensor<64xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<64xf32>) -> tensor<64xf32>
func.func private @c1(tensor<64xf32>) -> tensor<f32>
func.func private @f0(!llvm.ptr,
    memref<64xf32> {pipe.role = #pipe.role<operand 0>},
    memref<64xf32> {pipe.role = #pipe.role<result 0>},
    memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
func.func private @f1(!llvm.ptr,
    memref<64xf32> {pipe.role = #pipe.role<operand 0>},
    memref<f32> {pipe.role = #pipe.role<result 0>},
    memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<64xf32>
  pipe.send copying %0 edge(0) activation microbatch(0) communicator(3) : tensor<64xf32>
  %h = pipe.recv edge(0) gradient microbatch(0) stream(2) communicator(4) : !pipe.handle<tensor<64xf32>>
  %1 = pipe.forward chunk(0) microbatch(1) () : () -> tensor<64xf32>
  pipe.send copying %1 edge(0) activation microbatch(1) communicator(3) : tensor<64xf32>
  %2 = pipe.forward chunk(0) microbatch(2) () : () -> tensor<64xf32>
  %g = pipe.wait %h : !pipe.handle<tensor<64xf32>>
  pipe.send copying %2 edge(0) activation microbatch(2) communicator(3) : tensor<64xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %h0 = pipe.recv edge(0) activation microbatch(0) stream(2) communicator(3) : !pipe.handle<tensor<64xf32>>
  %x0 = pipe.wait %h0 : !pipe.handle<tensor<64xf32>>
  %0 = pipe.forward chunk(1) microbatch(0) (%x0) : (tensor<64xf32>) -> tensor<f32>
}
