// RUN: split-file %s %t
// RUN: veeline-opt %t/net.mlir --pipe-plan-memory=optimizer=sgd -o %t/planned.mlir
// RUN: FileCheck %s --input-file %t/planned.mlir
// RUN: veeline-opt %t/planned.mlir --pipe-lower-to-runtime | FileCheck %s --check-prefix=LOWER
// RUN: veeline-opt %t/net.mlir "--pipe-plan-memory=optimizer=sgd target=cuda" | FileCheck %s --check-prefix=DEVICE
// RUN: veeline-opt %t/net.mlir "--pipe-plan-memory=optimizer=sgd target=cuda nccl-sums" -o %t/nccl.mlir
// RUN: FileCheck %s --check-prefix=NCCL --input-file %t/nccl.mlir
// RUN: veeline-opt %t/nccl.mlir "--pipe-plan-memory=optimizer=sgd target=cuda" | FileCheck %s --check-prefix=DEVICE
// RUN: veeline-opt %t/net.mlir "--pipe-plan-memory=optimizer=sgd nccl-sums" | FileCheck %s
// RUN: not veeline-opt %t/lost.mlir --pipe-plan-memory 2>&1 | FileCheck %s --check-prefix=LOST

// Accumulators without a gap between them are one piece: those of u and b, of 32
// and 16 floats. Of three replicas each adds up 16 of these 48 floats, so
// two contributions of 64 bytes lie beside them from the post to the last
// wait; and two of one float, aligned, for w, which has 3.
// CHECK:      pipe.program @net_rank0
// CHECK-SAME: accumulators = [array<i64: 0, 0, 256>, array<i64: 1, 0, 320>, array<i64: 2, 0, 448>]
// CHECK-SAME: reduced = [array<i64: 0, 0, 256, 3, 512, 64>, array<i64: 0, 1, 320, 48, 640, 64>]
// CHECK:      pipe.all_reduce param(0) chunk(0) communicator(1) group(0) {pipe.offsets = array<i64: 512>}
// CHECK-NEXT: pipe.all_reduce param(1) chunk(0) communicator(1) group(0) :

// On a GPU alone, NCCL may add in place: without the two contributions of 256
// bytes for each piece.
// DEVICE:      pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(3) {
// DEVICE:      pipe.program @net_rank0
// DEVICE-SAME: reduced = [{{.*}}, 256>{{.*}}, 256>]
// NCCL:        pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(3) nccl_sums {
// NCCL:        pipe.program @net_rank0
// NCCL-SAME:   reduced = [{{.*}}, 0>{{.*}}, 0>]

// All of a group is posted, and waited for, at once.
// LOWER:      func.func @net_rank0_step
// LOWER:      call @veeline_reduce_post
// LOWER-NOT:  call @veeline_reduce_post
// LOWER:      call @veeline_reduce_wait
// LOWER-NOT:  call @veeline_reduce_wait
// LOWER:      call @veeline_update
// LOWER-NOT:  call @veeline_reduce_wait
// LOWER:      return

// LOST: error: 'pipe.all_reduce' op is not waited for

//--- net.mlir
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(3) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<3xf32>
  %u = pipe.param <"u", init = zeros> : tensor<32xf32>
  %b = pipe.param <"b", init = zeros> : tensor<16xf32>
  %0 = pipe.chunk 0 @c(%x, %w, %u, %b) {forward = @f, backward = @g} : (tensor<4xf32>, tensor<3xf32>, tensor<32xf32>, tensor<16xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<3xf32>, tensor<32xf32>, tensor<16xf32>) -> tensor<f32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @g(tensor<4xf32> {pipe.role = #pipe.role<operand 0>})
    -> (tensor<3xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<32xf32> {pipe.role = #pipe.role<param_grad 2>}, tensor<16xf32> {pipe.role = #pipe.role<param_grad 3>})
pipe.program @net_rank0 of @net stage(0) {
  %h0 = pipe.all_reduce param(0) chunk(0) communicator(1) group(0) : !pipe.handle<tensor<3xf32>>
  %h1 = pipe.all_reduce param(1) chunk(0) communicator(1) group(0) : !pipe.handle<tensor<32xf32>>
  %h2 = pipe.all_reduce param(2) chunk(0) communicator(1) group(0) : !pipe.handle<tensor<16xf32>>
  %g0 = pipe.wait %h0 : !pipe.handle<tensor<3xf32>>
  %0 = pipe.update param(0) (%g0) : (tensor<3xf32>) -> tensor<3xf32>
  %g1 = pipe.wait %h1 : !pipe.handle<tensor<32xf32>>
  %1 = pipe.update param(1) (%g1) : (tensor<32xf32>) -> tensor<32xf32>
  %g2 = pipe.wait %h2 : !pipe.handle<tensor<16xf32>>
  %2 = pipe.update param(2) (%g2) : (tensor<16xf32>) -> tensor<16xf32>
}

//--- lost.mlir
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(3) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<16xf32>
  %0 = pipe.chunk 0 @c(%x, %w) {forward = @f, backward = @g} : (tensor<4xf32>, tensor<16xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<16xf32>) -> tensor<f32>
func.func private @f(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @g(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<16xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @net_rank0 of @net stage(0) {
  %h0 = pipe.all_reduce param(0) chunk(0) communicator(1) : !pipe.handle<tensor<16xf32>>
}
