// RUN: veeline-opt %s --pipe-plan-memory=target=cuda -o %t.mlir
// RUN: FileCheck %s --input-file %t.mlir
// RUN: veeline-opt %t.mlir --pipe-lower-to-runtime=target=cuda | FileCheck %s --check-prefix=STEP
// RUN: sed 's/{pipe.awaited_events = array<i64: 1>, pipe.rec/{pipe.rec/' %s > %t.free.mlir
// RUN: veeline-opt %t.free.mlir --pipe-plan-memory=target=cuda | FileCheck %s --check-prefix=FREE

// The library has workspace for each stream; the plan says whom it is for.
// CHECK-LABEL: pipe.program @net_rank0
// CHECK-SAME:    arena_bytes = 67113472
// CHECK-SAME:    library = array<i64: 1024, 67108864>
// CHECK-SAME:    streams = array<i64: 2, 2>
// CHECK-NEXT:    pipe.forward chunk(0) microbatch(0) () {pipe.offsets = array<i64: [[Y0:[0-9]+]]>
// CHECK-NEXT:    pipe.forward chunk(1) microbatch(0)
// The first value is still read by the other stream, for all that this one
// knows; its own workspace it may write over.
// CHECK-NEXT:    pipe.forward chunk(0) microbatch(1) () {pipe.offsets = array<i64: [[Y1:[0-9]+]]>
// The other stream knows that it has read it.
// CHECK-NEXT:    pipe.forward chunk(1) microbatch(1) {{.*}}pipe.workspace_offset = [[Y0]] : i64
// And now this one knows, by event 1.
// CHECK-NEXT:    pipe.forward chunk(0) microbatch(2) () {pipe.awaited_events = array<i64: 1>, pipe.offsets = array<i64: [[Y0]]>

// Without that event the third value has a place of its own.
// FREE-LABEL: pipe.program @net_rank0
// FREE-SAME:    arena_bytes = 67114496

// All streams begin with what the first one has.
// STEP-LABEL: func.func @net_rank0_step(
// STEP:         %[[FORK:.*]] = llvm.mlir.constant(0 : i32)
// STEP-NEXT:    call @veeline_event_record(%arg0, %[[FORK]])
// STEP-NEXT:    %[[OTHER:.*]] = llvm.mlir.constant(1 : i32)
// STEP-NEXT:    call @veeline_stream(%arg0, %[[OTHER]])
// STEP-NEXT:    call @veeline_event_wait(%arg0, %[[FORK]])
// STEP-NEXT:    %[[FIRST:.*]] = llvm.mlir.constant(0 : i32)
// STEP-NEXT:    call @veeline_stream(%arg0, %[[FIRST]])
// STEP:         call @f0(
// STEP-NEXT:    call @veeline_op_end(
// STEP-NEXT:    %[[MADE:.*]] = llvm.mlir.constant(0 : i32)
// STEP-NEXT:    call @veeline_event_record(%arg0, %[[MADE]])
// STEP-NEXT:    %[[SECOND:.*]] = llvm.mlir.constant(1 : i32)
// STEP-NEXT:    call @veeline_stream(%arg0, %[[SECOND]])
// STEP-NEXT:    %[[AWAITED:.*]] = llvm.mlir.constant(0 : i32)
// STEP-NEXT:    call @veeline_event_wait(%arg0, %[[AWAITED]])
// STEP:         call @veeline_op_begin(
// STEP:         call @f1(
// What is reported is so by the same stream.
// STEP-NOT:     call @veeline_stream
// STEP:         call @veeline_report(
// STEP-NOT:     call @veeline_event_record
// STEP:         call @veeline_stream(
// STEP:         call @f0(
// STEP:         call @veeline_event_record(
// STEP:         call @f1(
// STEP:         call @veeline_report(
// STEP-NEXT:    %[[READ:.*]] = llvm.mlir.constant(1 : i32)
// STEP-NEXT:    call @veeline_event_record(%arg0, %[[READ]])
// STEP-NEXT:    %[[THIRD:.*]] = llvm.mlir.constant(0 : i32)
// STEP-NEXT:    call @veeline_stream(%arg0, %[[THIRD]])
// STEP-NEXT:    %[[KNOWN:.*]] = llvm.mlir.constant(1 : i32)
// STEP-NEXT:    call @veeline_event_wait(%arg0, %[[KNOWN]])
// STEP:         call @f0(
// STEP:         call @f1(
// STEP:         return

pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) microbatches(3) {
  %x = pipe.batch "x" : tensor<64xf32>
  %0 = pipe.chunk 0 @c0(%x) {forward = @f0} : (tensor<64xf32>) -> tensor<256xf32>
  %1 = pipe.chunk 1 @c1(%0) {forward = @f1} : (tensor<256xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<64xf32>) -> tensor<256xf32>
func.func private @c1(tensor<256xf32>) -> tensor<f32>
func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
func.func private @f0(%rank: !llvm.ptr,
    %x: memref<64xf32> {pipe.role = #pipe.role<operand 0>},
    %y: memref<256xf32> {pipe.role = #pipe.role<result 0>},
    %workspace: memref<512xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 512 : i64, pipe.workspace_peak_live_bytes = 512 : i64} {
  %gemm = arith.constant 0 : i32
  call @veeline_gemm(%rank, %gemm, %rank, %rank, %rank, %rank) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  return
}
func.func private @f1(!llvm.ptr,
    memref<256xf32> {pipe.role = #pipe.role<operand 0>},
    memref<f32> {pipe.role = #pipe.role<result 0>},
    memref<768xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 768 : i64, pipe.workspace_peak_live_bytes = 768 : i64}
pipe.program @net_rank0 of @net stage(0) attributes {pipe.compute_streams = array<i64: 2, 2>} {
  %0 = pipe.forward chunk(0) microbatch(0) () {pipe.recorded_event = 0 : i64} : () -> tensor<256xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) {pipe.awaited_events = array<i64: 0>, pipe.compute_stream = 1 : i64} : (tensor<256xf32>) -> tensor<f32>
  %2 = pipe.forward chunk(0) microbatch(1) () {pipe.recorded_event = 0 : i64} : () -> tensor<256xf32>
  %3 = pipe.forward chunk(1) microbatch(1) (%2) {pipe.awaited_events = array<i64: 0>, pipe.compute_stream = 1 : i64, pipe.recorded_event = 1 : i64} : (tensor<256xf32>) -> tensor<f32>
  %4 = pipe.forward chunk(0) microbatch(2) () {pipe.awaited_events = array<i64: 1>, pipe.recorded_event = 0 : i64} : () -> tensor<256xf32>
  %5 = pipe.forward chunk(1) microbatch(2) (%4) {pipe.awaited_events = array<i64: 0>, pipe.compute_stream = 1 : i64} : (tensor<256xf32>) -> tensor<f32>
}
