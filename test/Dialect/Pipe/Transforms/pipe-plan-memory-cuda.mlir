// RUN: veeline-opt %s --pipe-plan-memory=target=cuda | FileCheck %s
// RUN: veeline-opt %s --pipe-plan-memory="target=cuda optimizer=sgd" | FileCheck %s --check-prefix=SGD
// RUN: veeline-opt %s --pipe-plan-memory | FileCheck %s --check-prefix=HOST

// Constants are numbered over the module, those that nobody uses left out.
// CHECK: module attributes {pipe.constants = [@other, @table]}

// Of the first rank: the parameter, its state, an accumulator; both microbatches
// of x; its constant, the second one; 2 parts (a multiple of 16 bytes) of one
// norm after the settings; the library's 32 MiB. All at multiples of 256.
// CHECK-LABEL: pipe.program @net_rank0
// CHECK-SAME:    accumulators = [array<i64: 0, 0, 512>]
// CHECK-SAME:    device = {constants = [array<i64: 1, 1024, 16>], inputs = [array<i64: 0, 768, 24>], library = array<i64: 1792, 33554432>, norms = array<i64: 1536, 2>, optimizer = "adamw", settings = 1280 : i64}
// CHECK-SAME:    params = [array<i64: 0, 0, 256, 64, 1>]

// Nothing is computed into the receiver's memory. What the first send takes away
// stays until the second one, so the results of both forwards are apart; the
// second microbatch of x starts at byte 12 and is copied.
// CHECK-NEXT:    %[[F0:.*]] = pipe.forward chunk(0) microbatch(0) () {pipe.offsets = array<i64: [[Y0:[0-9]+]]>, pipe.workspace_offset
// CHECK-NEXT:    pipe.send %[[F0]]
// CHECK-NEXT:    pipe.forward chunk(0) microbatch(1) () {pipe.offsets = array<i64: [[Y1:[0-9]+]]>, pipe.slice_offsets = array<i64: {{[0-9]+}}>
// The third forward may use the memory of the first.
// CHECK:         pipe.forward chunk(0) microbatch(0) () {pipe.offsets = array<i64: [[Y0]]>
// Those of a group stay until the next unit: the second message of the group has
// a place of its own as well.
// CHECK:         pipe.recv edge(0) gradient microbatch(0) group(0) {pipe.offsets = array<i64: {{[0-9]+}}>}

// The second rank has the buffer (after the one batch argument), no constants, no
// products, and nothing to update. It reports the loss of two microbatches.
// CHECK-LABEL: pipe.program @net_rank1
// CHECK-SAME:    device = {constants = [], inputs = [array<i64: 1, 0, 8>], library = array<i64: -1, 0>, norms = array<i64: -1, 0>, results = array<i64: 256, 16>, settings = -1 : i64}

// SGD-LABEL: pipe.program @net_rank0
// SGD-SAME:    params = [array<i64: 0, 0, -1, 0, 1>]

// HOST-NOT: pipe.constants
// HOST-NOT: device =
// HOST-NOT: slice_offsets

memref.global "private" constant @unused : memref<2xf32> = dense<0.0>
memref.global "private" constant @other : memref<2xf32> = dense<0.0>
memref.global "private" constant @table : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) {
  %x = pipe.batch "x" : tensor<3xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %b = pipe.buffer "b" : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @f0, backward = @b0} : (tensor<3xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %b) {forward = @f1} : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<3xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
func.func private @kernel(%table: memref<4xf32>, %y: memref<2xf32>) attributes {pipe.kernel} {
  return
}
func.func private @f0(%rank: !llvm.ptr,
    %x: memref<3xf32> {pipe.role = #pipe.role<operand 0>},
    %w: memref<8xf32> {pipe.role = #pipe.role<operand 1>},
    %y: memref<2xf32> {pipe.role = #pipe.role<result 0>},
    %workspace: memref<100xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 100 : i64, pipe.workspace_peak_live_bytes = 90 : i64} {
  %table = memref.get_global @table : memref<4xf32>
  %gemm = arith.constant 0 : i32
  call @kernel(%table, %y) : (memref<4xf32>, memref<2xf32>) -> ()
  call @veeline_gemm(%rank, %gemm, %rank, %rank, %rank, %rank) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
  return
}
func.func private @elsewhere(%rank: !llvm.ptr) {
  %other = memref.get_global @other : memref<2xf32>
  return
}
func.func private @b0(!llvm.ptr,
    memref<2xf32> {pipe.role = #pipe.role<result_grad 0>},
    memref<8xf32> {pipe.role = #pipe.role<param_grad 1>},
    memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
func.func private @f1(!llvm.ptr,
    memref<2xf32> {pipe.role = #pipe.role<operand 0>},
    memref<2xf32> {pipe.role = #pipe.role<operand 1>},
    memref<f32> {pipe.role = #pipe.role<result 0>},
    memref<0xi8>) attributes {pipe.num_results = 1 : i64, pipe.workspace_bytes = 0 : i64, pipe.workspace_peak_live_bytes = 0 : i64}
pipe.program @net_rank0 of @net stage(0) {
  %0 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  pipe.send %0 edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(0) microbatch(1) () : () -> tensor<2xf32>
  pipe.send copying %1 edge(0) activation microbatch(1) : tensor<2xf32>
  %2 = pipe.forward chunk(0) microbatch(0) () : () -> tensor<2xf32>
  %h0 = pipe.recv edge(0) gradient microbatch(0) group(0) : !pipe.handle<tensor<2xf32>>
  pipe.send copying %2 edge(0) activation microbatch(0) group(0) : tensor<2xf32>
  %g0 = pipe.wait %h0 : !pipe.handle<tensor<2xf32>>
  pipe.backward chunk(0) microbatch(0) (%g0) : (tensor<2xf32>) -> ()
  %sum = pipe.gradient param(0) chunk(0) : tensor<8xf32>
  %new = pipe.update param(0) (%sum) : (tensor<8xf32>) -> tensor<8xf32>
}
pipe.program @net_rank1 of @net stage(1) {
  %h0 = pipe.recv edge(0) activation microbatch(0) : !pipe.handle<tensor<2xf32>>
  %x0 = pipe.wait %h0 : !pipe.handle<tensor<2xf32>>
  %0 = pipe.forward chunk(1) microbatch(0) (%x0) : (tensor<2xf32>) -> tensor<f32>
}
