// RUN: veeline-opt %s --pipe-plan-memory --pipe-lower-to-runtime --canonicalize --cse | FileCheck %s
// RUN: veeline-opt %s --pipe-plan-memory=optimizer=sgd --pipe-lower-to-runtime --canonicalize --cse \
// RUN:   | FileCheck %s --check-prefix=SGD
// RUN: sed 's/send %0#0 edge(0) activation microbatch(0)/send copying %0#0 edge(0) activation microbatch(0) group(0)/; s/recv edge(0) gradient microbatch(0)/& group(0)/' %s \
// RUN:   | veeline-opt --pipe-plan-memory --pipe-lower-to-runtime --canonicalize --cse | FileCheck %s --check-prefix=COPY

// A copying send takes the receiver's memory when the value is there; the
// receive of its group is posted already.
// COPY-LABEL: func.func @tied_rank0_step
// COPY-NOT:     call @veeline_send_acquire
// COPY:         call @c0_forward
// COPY:         call @veeline_recv_post
// COPY:         %[[SLOT:.*]] = call @veeline_send_acquire
// COPY-NEXT:    call @veeline_send_copy(%{{.*}}, %{{.*}}, %{{.*}}, %[[SLOT]], %{{.*}}) : (!llvm.ptr, i32, i32, !llvm.ptr, !llvm.ptr)
// COPY:         call @veeline_recv_wait

// CHECK-NOT:   pipe.pipeline
// CHECK-NOT:   pipe.program
// CHECK-LABEL: func.func private @pipe_add_2_f32(
// CHECK:         linalg.generic
// CHECK:         arith.addf

// Channels are numbered by edge, activations first: 0 and 1 of edge 0, 2 and 3 of
// edge 1, which is the tied parameter's.
// CHECK-LABEL: func.func @tied_rank0_step(
// CHECK-SAME:    %[[RANK:.*]]: !llvm.ptr, %[[ARENA:.*]]: !llvm.ptr, %[[BATCH:.*]]: !llvm.ptr)
// CHECK-DAG:     %[[C0:.*]] = llvm.mlir.constant(0 : i32) : i32
// CHECK-DAG:     %[[C1:.*]] = llvm.mlir.constant(1 : i32) : i32
// CHECK-DAG:     %[[C2:.*]] = llvm.mlir.constant(2 : i32) : i32
// CHECK-DAG:     %[[C3:.*]] = llvm.mlir.constant(3 : i32) : i32
// CHECK-DAG:     %[[Z8:.*]] = llvm.mlir.constant(0 : i8) : i8
// CHECK-DAG:     %[[N32:.*]] = llvm.mlir.constant(32 : i64) : i64
// CHECK:         %[[ACC:.*]] = llvm.getelementptr %[[ARENA]][128]
// CHECK:         "llvm.intr.memset"(%[[ACC]], %[[Z8]], %[[N32]])
// The activation is computed into the receiver's memory; its send only commits.
// CHECK:         %[[SLOT:.*]] = call @veeline_send_acquire(%[[RANK]], %[[C0]])
// CHECK:         %[[AT:.*]] = llvm.getelementptr %[[ARENA]][384]
// CHECK:         call @veeline_op_begin(%[[RANK]], %[[C0]])
// CHECK:         call @c0_forward(%[[RANK]],
// CHECK-NEXT:    call @veeline_op_end(%[[RANK]], %[[C0]])
// CHECK-NEXT:    call @veeline_op_begin(%[[RANK]], %[[C1]])
// CHECK-NEXT:    call @veeline_send_commit(%[[RANK]], %[[C0]])
// CHECK-NEXT:    call @veeline_op_end(%[[RANK]], %[[C1]])
// CHECK-NEXT:    call @veeline_recv_post(%[[RANK]], %[[C1]], %[[AT]])
// CHECK:         call @veeline_recv_wait(%[[RANK]], %[[C1]])
// CHECK:         call @pipe_add_2_f32(
// CHECK:         call @c0_backward(
// CHECK:         call @veeline_recv_post(%[[RANK]], %[[C3]],
// CHECK:         call @veeline_recv_wait(%[[RANK]], %[[C3]])
// Both gradients, in the order of the chunks: the accumulator, the message.
// CHECK:         %[[LIST:.*]] = llvm.alloca
// CHECK:         llvm.store %[[ACC]], %[[LIST]]
// CHECK:         call @veeline_update(%[[RANK]], %[[C0]], %{{.*}}, %{{.*}}, %[[LIST]], %[[C2]])
// A value that stays here as well is copied into the message.
// CHECK:         %[[NEW:.*]] = call @veeline_send_acquire(%[[RANK]], %[[C2]])
// CHECK:         call @veeline_send_copy(%[[RANK]], %[[C2]], %[[C0]], %[[NEW]], %{{.*}})
// CHECK:         return

// CHECK-LABEL: func.func @tied_rank1_step(
// CHECK:         call @c1_forward(
// The loss is reported as soon as it is there.
// CHECK-NEXT:    call @veeline_op_end
// CHECK:         call @veeline_report(
// CHECK:         call @c1_backward(
// CHECK-NOT:     call @veeline_update
// CHECK:         call @veeline_recv_wait
// CHECK:         "llvm.intr.memcpy"
// CHECK-NEXT:    return

// Without state there is no address of one.
// SGD-LABEL:   func.func @tied_rank0_step(
// SGD:           %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// SGD:           call @veeline_update(%{{.*}}, %{{.*}}, %{{.*}}, %[[NULL]],

// A chain of two stages with a tied parameter, bufferized by hand.
pipe.pipeline @tied stages(2) chunks_per_stage(1) placement(linear) microbatches(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %b = pipe.buffer "b" : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w, %b) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c0_forward(!llvm.ptr,
    memref<4xf32> {pipe.role = #pipe.role<operand 0>},
    memref<8xf32> {pipe.role = #pipe.role<operand 1>},
    memref<2xf32> {pipe.role = #pipe.role<operand 2>},
    memref<2xf32> {pipe.role = #pipe.role<result 0>},
    memref<40xf32> {pipe.role = #pipe.role<residual 0>},
    memref<100xi8>) attributes {pipe.num_results = 2 : i64, pipe.workspace_bytes = 100 : i64, pipe.workspace_peak_live_bytes = 90 : i64}
func.func private @c0_backward(!llvm.ptr,
    memref<4xf32> {pipe.role = #pipe.role<operand 0>},
    memref<40xf32> {pipe.role = #pipe.role<residual 0>},
    memref<2xf32> {pipe.role = #pipe.role<result_grad 0>},
    memref<8xf32> {pipe.role = #pipe.role<param_grad 1>},
    memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(!llvm.ptr,
    memref<2xf32> {pipe.role = #pipe.role<operand 0>},
    memref<8xf32> {pipe.role = #pipe.role<operand 1>},
    memref<f32> {pipe.role = #pipe.role<result 0>},
    memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
func.func private @c1_backward(!llvm.ptr,
    memref<2xf32> {pipe.role = #pipe.role<operand 0>},
    memref<8xf32> {pipe.role = #pipe.role<operand 1>},
    memref<2xf32> {pipe.role = #pipe.role<operand_grad 0>},
    memref<8xf32> {pipe.role = #pipe.role<param_grad 1>},
    memref<0xi8>) attributes {pipe.num_results = 2 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
pipe.program @tied_rank0 of @tied stage(0) {
  %0:2 = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<40xf32>)
  pipe.send %0#0 edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.recv edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
  %2 = pipe.wait %1 : !pipe.handle<tensor<2xf32>>
  %3 = pipe.add %2, %2 : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%0#1, %3) : (tensor<40xf32>, tensor<2xf32>) -> ()
  %4 = pipe.recv edge(1) gradient microbatch(0) : !pipe.handle<tensor<8xf32>>
  %5 = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %6 = pipe.wait %4 : !pipe.handle<tensor<8xf32>>
  %7 = pipe.update param(0) (%5, %6) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  pipe.send %7 edge(1) activation microbatch(0) : tensor<8xf32>
}
pipe.program @tied_rank1 of @tied stage(1) {
  %0 = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %1 = pipe.wait %0 : !pipe.handle<tensor<2xf32>>
  %2 = pipe.forward chunk(1) microbatch(0) (%1) : (tensor<2xf32>) -> tensor<f32>
  %3 = pipe.backward chunk(1) microbatch(0) (%1) : (tensor<2xf32>) -> tensor<2xf32>
  pipe.send %3 edge(0) gradient microbatch(0) : tensor<2xf32>
  %4 = pipe.recv edge(1) activation microbatch(0) : !pipe.handle<tensor<8xf32>>
  %5 = pipe.gradient param(0) chunk(1) : tensor<8xf32>
  pipe.send %5 edge(1) gradient microbatch(0) : tensor<8xf32>
  %6 = pipe.wait %4 : !pipe.handle<tensor<8xf32>>
  pipe.assign param(0) %6 : tensor<8xf32>
}
