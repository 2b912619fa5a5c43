// RUN: split-file %s %t
// RUN: veeline-opt %t/net.mlir --pipe-schedule="schedule=zb-h1 microbatches=2 replicas=3" -o %t/scheduled.mlir
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication --pipe-verify-communication=model=mpi | FileCheck %s
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=model=nccl --pipe-verify-communication=model=nccl -o /dev/null
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=strategy=p2p --pipe-verify-communication=model=nccl | FileCheck %s --check-prefix=P2P
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=strategy=batched --pipe-verify-communication=model=nccl -o /dev/null
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication=strategy=ring --pipe-verify-communication=model=nccl -o /dev/null
// RUN: not veeline-opt %t/net.mlir --pipe-schedule="schedule=zb-h1 replicas=0" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: veeline-opt %t/scheduled.mlir --pipe-insert-communication -o %t/right.mlir
// RUN: sed 's/communicator(2)/communicator(1)/' %t/right.mlir > %t/other.mlir
// RUN: not veeline-opt %t/other.mlir --pipe-verify-communication=model=mpi 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/communicator(2)//' %t/right.mlir > %t/all.mlir
// RUN: not veeline-opt %t/all.mlir --pipe-verify-communication=model=mpi 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: sed '0,/communicator(1) group(0)/s//communicator(1)/' %t/right.mlir | sed '0,/communicator(1) group(0)/s//communicator(1) group(7)/' > %t/apart.mlir
// RUN: veeline-opt %t/apart.mlir --pipe-verify-communication=model=mpi | FileCheck %s --check-prefix=APART

// As soon as the last W of a chunk is done, the sums of all its parameters are
// posted as one group; updates wait for them, and so does the message of a
// parameter that another stage holds. By prediction the wait lasts until the
// sums are over.
// CHECK:       pipe.pipeline @net stages(2) {{.*}} microbatches(2) replicas(3)
// CHECK-LABEL: pipe.program @net_rank0
// CHECK:       pipe.backward_weight chunk(0) microbatch(1)
// CHECK:       %[[H0:.*]] = pipe.all_reduce param(0) chunk(0) communicator(1) group([[G:[0-9]+]]) : !pipe.handle<tensor<8xf32>>
// CHECK-NEXT:  %[[H1:.*]] = pipe.all_reduce param(1) chunk(0) communicator(1) group([[G]]) : !pipe.handle<tensor<4xf32>>
// CHECK-NOT:   pipe.gradient
// CHECK:       %[[W0:.*]] = pipe.wait %[[H0]] {pipe.predicted = array<f64: 4.006000e+03, 8.010000e+03>}
// CHECK:       %[[T0:.*]] = pipe.wait %{{.*}} : !pipe.handle<tensor<8xf32>>
// CHECK-NEXT:  pipe.update param(0) (%[[W0]], %[[T0]])
// CHECK:       %[[W1:.*]] = pipe.wait %[[H1]]
// CHECK-NEXT:  pipe.update param(1) (%[[W1]])
// CHECK-LABEL: pipe.program @net_rank1
// CHECK:       %[[H2:.*]] = pipe.all_reduce param(0) chunk(1) communicator(2) : !pipe.handle<tensor<8xf32>>
// CHECK:       %[[W2:.*]] = pipe.wait %[[H2]]
// CHECK-NEXT:  pipe.send %[[W2]] edge(1) gradient

// P2P: pipe.all_reduce param(0) chunk(0) stream(0) communicator(1) group(

// NONE: error: replicas is at least 1, found 0
// OTHER: error: 'pipe.all_reduce' op is on communicator 1, to which rank 1 does not belong
// ALL: error: 'pipe.all_reduce' op waits for ever for rank 0, which issues 0 on that communicator
// APART: group(7)

//--- net.mlir
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
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
