// RUN: split-file %s %t
// RUN: veeline-opt %t/net.mlir --pipe-schedule="schedule=zb-h1 microbatches=3 sequential" -o %t/scheduled.mlir
// RUN: FileCheck %s --input-file %t/scheduled.mlir
// RUN: FileCheck %s --input-file %t/scheduled.mlir --check-prefix=ALONE
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication --pipe-verify-communication=model=mpi -o %t/overlap.mlir
// RUN: FileCheck %s --input-file %t/overlap.mlir --check-prefix=MESSAGES
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=model=nccl --pipe-verify-communication=model=nccl -o /dev/null
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=strategy=p2p --pipe-verify-communication=model=nccl -o %t/p2p.mlir
// RUN: veeline-opt %t/p2p.mlir --pipe-verify-communication=model=mpi -o /dev/null
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=strategy=batched --pipe-verify-communication=model=nccl -o /dev/null
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=strategy=ring --pipe-verify-communication=model=nccl -o /dev/null
// RUN: veeline-opt %t/net.mlir --pipe-schedule="schedule=1f1b microbatches=4 replicas=2" --pipe-insert-communication --pipe-verify-communication=model=mpi | FileCheck %s --check-prefix=BOTH
// RUN: veeline-opt %t/net.mlir --pipe-schedule="schedule=file:%t/order.csv microbatches=3" | FileCheck %s --check-prefix=FILE
// RUN: not veeline-opt %t/net.mlir --pipe-schedule="schedule=zb-h1" 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: sed '0,/communicator(1)/s//communicator(2)/' %t/overlap.mlir > %t/other.mlir
// RUN: not veeline-opt %t/other.mlir --pipe-verify-communication=model=mpi 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed '/pipe.program @net_rank1/,/^  }/d' %t/scheduled.mlir > %t/missing.mlir
// RUN: not veeline-opt %t/missing.mlir --pipe-insert-communication 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: awk '/pipe.update param.1./ && ++n == 2 {next} 1' %t/scheduled.mlir > %t/stale.mlir
// RUN: not veeline-opt %t/stale.mlir --pipe-insert-communication 2>&1 | FileCheck %s --check-prefix=STALE
// RUN: sed 's/stage(0) replica(1)/stage(0)/' %t/late.mlir > %t/twice.mlir
// RUN: not veeline-opt %t/late.mlir --pipe-insert-communication 2>&1 | FileCheck %s --check-prefix=LATE
// RUN: not veeline-opt %t/twice.mlir --pipe-insert-communication 2>&1 | FileCheck %s --check-prefix=TWICE

// Microbatch i is run by rank i mod 2 of stage 0, and by the one of stage 1. The
// tied parameter's gradient goes to both ranks of its home, its value comes from
// the first of them.
// CHECK:       pipe.pipeline @net stages(2) {{.*}} microbatches(3) stage_replicas [2, 1] schedule("zb-h1")
// CHECK-LABEL: pipe.program @net_rank0 of @net stage(0) {
// CHECK:       pipe.forward chunk(0) microbatch(0)
// CHECK-NEXT:  pipe.forward chunk(0) microbatch(2)
// CHECK:       pipe.backward_weight chunk(0) microbatch(0)
// CHECK:       pipe.backward_weight chunk(0) microbatch(2)
// CHECK:       pipe.edge_value edge(1) gradient microbatch(0)
// CHECK-LABEL: pipe.program @net_rank1 of @net stage(0) replica(1) {
// CHECK:       pipe.forward chunk(0) microbatch(1)
// CHECK-NOT:   microbatch(0)
// CHECK:       pipe.edge_value edge(1) gradient microbatch(1)
// CHECK-LABEL: pipe.program @net_rank2 of @net stage(1) {
// CHECK:       pipe.edge_value edge(1) activation microbatch(0)

// The reference runs one microbatch.
// ALONE: pipe.pipeline @net_sequential stages(1) {{.*}} microbatches(1) schedule("sequential")

// Only the ranks of stage 0 add up gradients, which is before what comes from
// stage 1 is added.
// MESSAGES-LABEL: pipe.program @net_rank0
// MESSAGES:       pipe.all_reduce param(0) chunk(0) communicator(1) group(0)
// MESSAGES-NEXT:  pipe.all_reduce param(1) chunk(0) communicator(1) group(0)
// MESSAGES:       pipe.update param(0)
// MESSAGES:       pipe.send %{{.*}} edge(1) activation microbatch(0)
// MESSAGES-LABEL: pipe.program @net_rank1
// MESSAGES:       pipe.all_reduce param(0) chunk(0) communicator(1) group(0)
// MESSAGES-NOT:   edge(1) activation
// MESSAGES-LABEL: pipe.program @net_rank2
// MESSAGES-NOT:   pipe.all_reduce
// MESSAGES:       %[[G:.*]] = pipe.gradient param(0) chunk(1)
// MESSAGES:       pipe.send %[[G]] edge(1) gradient microbatch(0)
// MESSAGES-NEXT:  pipe.send %[[G]] edge(1) gradient microbatch(1)

// With replicas beside it, the one rank of stage 1 has another one to add to.
// BOTH:       replicas(2) stage_replicas [2, 1]
// BOTH-LABEL: pipe.program @net_rank2
// BOTH:       pipe.all_reduce param(0) chunk(1) communicator(2)

// The order of a stage in a file, without what other ranks run.
// FILE-LABEL: pipe.program @net_rank0
// FILE:       pipe.forward chunk(0) microbatch(0)
// FILE-NEXT:  pipe.forward chunk(0) microbatch(2)
// FILE-LABEL: pipe.program @net_rank1
// FILE:       pipe.forward chunk(0) microbatch(1)
// FILE-NOT:   pipe.forward
// FILE-LABEL: pipe.program @net_rank2

// FEW: error: 'pipe.pipeline' op stage 0 has 2 ranks for 1 microbatch, so that some would have nothing to do; take more microbatches or fewer ranks
// OTHER: error: 'pipe.all_reduce' op is on communicator 2, to which rank 0 does not belong
// MISSING: error: 'pipe.pipeline' op has 2 stages, but rank 1 (replica 1 of stage 0) has no program; run --pipe-schedule, or write one for each
// STALE: error: 'pipe.update' op updates parameter 1, as 1 of the 2 ranks of stage 0 do; all of them have a copy, which has to stay the same
// LATE: error: 'pipe.pipeline' op has 2 stages, but stage 1 has no program; run --pipe-schedule, or write one for each
// TWICE: error: 'pipe.program' op is a second program of rank 0 (replica 0 of stage 0); a rank runs one

//--- net.mlir
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) stage_replicas [2, 1] {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %b = pipe.param <"b", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w, %b) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_input, backward_weight = @c1_weight} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>}, tensor<4xf32> {pipe.role = #pipe.role<operand 2>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 2>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_input(tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>})
func.func private @c1_weight(tensor<2xf32> {pipe.role = #pipe.role<operand 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})

//--- order.csv
0F0,0F1,0F2,,0B0,0B1,0B2
,1F0,1F1,1F2,1B0,1B1,1B2
//--- late.mlir
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(2) stage_replicas [2, 1] {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %b = pipe.param <"b", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c0(%x, %w, %b) {forward = @c0_forward, backward = @c0_backward, backward_weight = @c0_backward} : (tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward, backward_input = @c1_input, backward_weight = @c1_weight} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>, tensor<4xf32>) -> tensor<2xf32>
func.func private @c0_forward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>}, tensor<4xf32> {pipe.role = #pipe.role<operand 2>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @c0_backward(tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<4xf32> {pipe.role = #pipe.role<param_grad 2>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1_input(tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>})
func.func private @c1_weight(tensor<2xf32> {pipe.role = #pipe.role<operand 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
pipe.program @net_rank0 of @net stage(0) {
}
pipe.program @net_rank1 of @net stage(0) replica(1) {
}
