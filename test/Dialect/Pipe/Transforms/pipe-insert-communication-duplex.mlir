// RUN: split-file %s %t
// DEFINE: %{duplex} = veeline-opt %t/tied.mlir --pipe-schedule="schedule=1f1b microbatches=3" --pipe-insert-communication=strategy=duplex
// RUN: %{duplex} --pipe-verify-communication=model=nccl-duplex | FileCheck %s
// RUN: %{duplex} --pipe-verify-communication=model=mpi | FileCheck %s
// RUN: veeline-opt %t/tied.mlir --pipe-schedule="schedule=1f1b microbatches=3" \
// RUN:   --pipe-insert-communication="strategy=duplex model=nccl-duplex" | FileCheck %s
// RUN: not veeline-opt %t/tied.mlir --pipe-schedule="schedule=1f1b microbatches=3" --pipe-insert-communication=strategy=duplex \
// RUN:   --pipe-verify-communication=model=nccl 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: veeline-opt %t/skip.mlir --pipe-schedule="schedule=1f1b microbatches=3" --pipe-insert-communication=strategy=duplex \
// RUN:   --pipe-verify-communication=model=nccl-duplex | FileCheck %s --check-prefix=SKIP

// What rank 0 sends is on communicator 3, behind that of all ranks and those of
// the two stages, what rank 1 sends on 4. A receive is posted before the
// operation that it overlaps, and so before what is sent then.
// CHECK-LABEL: pipe.program @tied_rank0
// CHECK:       pipe.send copying %{{.*}} edge(0) activation microbatch(0) communicator(3) :
// CHECK-NEXT:  pipe.forward chunk(0) microbatch(1)
// CHECK:       %[[H:.*]] = pipe.recv edge(0) gradient microbatch(0) stream(2) communicator(4) :
// CHECK:       pipe.send copying %{{.*}} edge(0) activation microbatch(1) communicator(3) :
// CHECK:       pipe.wait %[[H]]
// CHECK-NEXT:  pipe.backward chunk(0) microbatch(0)
// CHECK-LABEL: pipe.program @tied_rank1
// CHECK-NOT:   pipe.send copying
// CHECK:       pipe.recv edge(0) activation microbatch(0) stream(2) communicator(3) :
// CHECK:       pipe.send copying %{{.*}} edge(0) gradient microbatch(0) communicator(4) :

// REFUSED: may be under way at once with another operation, on stream {{[12]}} and communicator {{[34]}}
// REFUSED-SAME: the rules of nccl-duplex, for devices that have room for both, let streams 1 and 2 run side by side

// A value that skips a rank makes a ring of three, which has three colours.
// SKIP-LABEL: pipe.program @skip_rank0
// SKIP-DAG:   pipe.send copying %{{.*}} edge({{.*}} activation {{.*}} communicator(4)
// SKIP-DAG:   pipe.recv edge({{.*}} gradient {{.*}} stream(2) communicator(5)
// SKIP-DAG:   pipe.recv edge({{.*}} gradient {{.*}} stream(2) communicator(6)
// SKIP-LABEL: pipe.program @skip_rank1
// SKIP-DAG:   pipe.send copying %{{.*}} edge({{.*}} activation {{.*}} communicator(5)
// SKIP-DAG:   pipe.send copying %{{.*}} edge({{.*}} gradient {{.*}} communicator(5)
// SKIP-LABEL: pipe.program @skip_rank2
// SKIP-DAG:   pipe.send copying %{{.*}} edge({{.*}} gradient {{.*}} communicator(6)

//--- tied.mlir
// A chain of two stages with a tied parameter.
pipe.pipeline @tied stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c0(%x, %w) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @c0_forward(
    tensor<4xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>},
        tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c0_backward(
    tensor<4xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<3xf32> {pipe.role = #pipe.role<residual 0>},
    tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
func.func private @c1_forward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>},
        tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>})

//--- skip.mlir
// Three stages; %0 goes to both others.
pipe.pipeline @skip stages(3) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @scale(%x, %w) {forward = @scale_forward, backward = @scale_weight} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @map(%0) {forward = @map_forward, backward = @map_input} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = pipe.chunk 2 @loss(%0, %1) {forward = @loss_forward, backward = @loss_input} : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  pipe.yield %2 : tensor<f32>
}
func.func private @scale(tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @scale_forward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<2xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @scale_weight(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @map(tensor<2xf32>) -> tensor<2xf32>
func.func private @map_forward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @map_input(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>})
func.func private @loss(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
func.func private @loss_forward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<2xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @loss_input(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<2xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>},
        tensor<2xf32> {pipe.role = #pipe.role<operand_grad 1>})
