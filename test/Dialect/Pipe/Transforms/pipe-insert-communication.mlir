// RUN: split-file %s %t
// RUN: veeline-opt %t/tied.mlir --pipe-schedule="schedule=1f1b microbatches=2" --pipe-insert-communication \
// RUN:   | FileCheck %s --check-prefix=TIED
// RUN: veeline-opt %t/v.mlir --pipe-schedule="schedule=zb-v" --pipe-insert-communication | FileCheck %s --check-prefix=V
// RUN: veeline-opt %t/skip.mlir --pipe-schedule="schedule=1f1b" --pipe-insert-communication | FileCheck %s --check-prefix=SKIP
// RUN: veeline-opt %t/hand.mlir --pipe-insert-communication | FileCheck %s --check-prefix=HAND
// RUN: veeline-opt %t/two.mlir --pipe-schedule="schedule=gpipe" --pipe-insert-communication | FileCheck %s --check-prefix=TWO
// RUN: veeline-opt %t/tied.mlir --pipe-schedule="schedule=1f1b microbatches=4" \
// RUN:   | sed 's/pipe.predicted = array<f64: [^>]*>/pipe.predicted = array<f64: 0.0, 0.0>/' > %t/timeless.mlir
// RUN: veeline-opt %t/timeless.mlir --pipe-insert-communication --pipe-verify-communication=model=mpi | FileCheck %s --check-prefix=TIMELESS
// DEFINE: %{strategy} = p2p
// DEFINE: %{tied} = veeline-opt %t/tied.mlir --pipe-schedule="schedule=1f1b microbatches=2" --pipe-insert-communication=strategy=%{strategy}
// DEFINE: %{others} = veeline-opt %t/v.mlir --pipe-schedule="schedule=zb-v microbatches=4" --pipe-insert-communication=strategy=%{strategy} --pipe-verify-communication -o %t/v.out && veeline-opt %t/skip.mlir --pipe-schedule="schedule=1f1b microbatches=4" --pipe-insert-communication=strategy=%{strategy} --pipe-verify-communication -o %t/skip.out
// RUN: %{tied} --pipe-verify-communication=model=nccl | FileCheck %s --check-prefix=P2P
// RUN: %{tied} --pipe-verify-communication=model=mpi | FileCheck %s --check-prefix=P2P
// RUN: %{others}
// REDEFINE: %{strategy} = batched
// RUN: %{tied} --pipe-verify-communication=model=nccl | FileCheck %s --check-prefix=BATCHED
// RUN: %{tied} --pipe-verify-communication=model=mpi | FileCheck %s --check-prefix=BATCHED
// RUN: %{others}
// REDEFINE: %{strategy} = ring
// RUN: %{others}
// RUN: FileCheck %s --check-prefix=RING --input-file %t/skip.out
// RUN: veeline-opt %t/tied.mlir --pipe-schedule="schedule=1f1b microbatches=2" --pipe-insert-communication=model=nccl --pipe-verify-communication \
// RUN:   | FileCheck %s --check-prefix=NCCL
// RUN: not veeline-opt %t/tied.mlir --pipe-insert-communication=strategy=mail 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// Where nothing takes time nothing is over when its neighbour begins, so that
// whoever computes into the other's memory finds it there.
// TIMELESS-LABEL: pipe.program @tied_rank0
// TIMELESS-COUNT-4: pipe.recv edge(0) gradient
// TIMELESS:      pipe.forward
// TIMELESS-NOT:  pipe.recv edge(0)
// TIMELESS-LABEL: pipe.program @tied_rank1

// The even rank sends the second activation first and then receives the first
// gradient, the odd rank the other way round.
// P2P-LABEL:     pipe.program @tied_rank0
// P2P:           pipe.send copying %{{.*}} edge(0) activation microbatch(0) stream(0) :
// P2P-NEXT:      pipe.forward chunk(0) microbatch(1)
// P2P-NEXT:      pipe.send copying %{{.*}} edge(0) activation microbatch(1) stream(0) :
// P2P-NEXT:      %[[H:.*]] = pipe.recv edge(0) gradient microbatch(0) stream(0) :
// P2P-NEXT:      pipe.wait %[[H]]
// P2P-NEXT:      pipe.backward chunk(0) microbatch(0)
// P2P-LABEL:     pipe.program @tied_rank1
// P2P:           %[[D:.*]] = pipe.backward chunk(1) microbatch(0)
// P2P-NEXT:      %[[H:.*]] = pipe.recv edge(0) activation microbatch(1) stream(0) :
// P2P-NEXT:      pipe.wait %[[H]]
// P2P-NEXT:      pipe.send copying %[[D]] edge(0) gradient microbatch(0) stream(0) :
// P2P-NEXT:      pipe.forward chunk(1) microbatch(1)
// P2P:           pipe.send copying %{{.*}} edge(1) gradient
// P2P-NEXT:      pipe.recv edge(1) activation

// Both of them are one group.
// BATCHED-LABEL: pipe.program @tied_rank0
// BATCHED:       pipe.send copying %{{.*}} edge(0) activation microbatch(1) stream(0) group([[G:.*]]) :
// BATCHED-NEXT:  %[[H:.*]] = pipe.recv edge(0) gradient microbatch(0) stream(0) group([[G]]) :
// BATCHED-NEXT:  pipe.wait %[[H]]
// BATCHED-LABEL: pipe.program @tied_rank1
// BATCHED:       pipe.recv edge(0) activation microbatch(1) stream(0) group([[G:.*]]) :
// BATCHED-NEXT:  pipe.send copying %{{.*}} edge(0) gradient microbatch(0) stream(0) group([[G]]) :

// More than two messages at once: both values of the skip edge and its
// neighbour's are in one group.
// RING-LABEL:    pipe.program @skip_rank0
// RING:          pipe.send copying %{{.*}} edge(0) activation microbatch(0) stream(0) group([[G:.*]]) :
// RING-NEXT:     pipe.send copying %{{.*}} edge(1) activation microbatch(0) stream(0) group([[G]]) :

// Under NCCL's rules a receive would hold up the sends behind it, so it comes
// after those of earlier messages, and yet before other work.
// NCCL-LABEL:    pipe.program @tied_rank0
// NCCL:          pipe.send copying %{{.*}} edge(0) activation microbatch(1) :
// NCCL-NEXT:     %[[H0:.*]] = pipe.recv edge(0) gradient microbatch(0) :
// NCCL-NEXT:     %[[H1:.*]] = pipe.recv edge(0) gradient microbatch(1) :
// NCCL:          pipe.wait %[[H0]]
// NCCL:          pipe.backward chunk(0) microbatch(0)
// NCCL:          pipe.wait %[[H1]]
// NCCL-NEXT:     pipe.backward chunk(0) microbatch(1)

// UNKNOWN: for the --strategy option: Cannot find option named 'mail'

// Sends stand where values exist. A receive is posted before the first op that
// may not be over when the sender starts, and before what that op waits for.
// TIED-LABEL: pipe.program @tied_rank0
// TIED-NOT:   pipe.edge_value
// TIED:       %[[F0:.*]]:2 = pipe.forward chunk(0) microbatch(0)
// TIED-NEXT:  pipe.send %[[F0]]#0 edge(0) activation microbatch(0)
// TIED-NEXT:  pipe.forward chunk(0) microbatch(1)
// TIED-DAG:   pipe.send %{{.*}}#0 edge(0) activation microbatch(1)
// TIED-DAG:   %[[H0:.*]] = pipe.recv edge(0) gradient microbatch(0) : !pipe.handle<tensor<2xf32>>
// TIED-DAG:   %[[H1:.*]] = pipe.recv edge(0) gradient microbatch(1)
// TIED:       %[[D0:.*]] = pipe.wait %[[H0]]
// TIED-NEXT:  pipe.backward chunk(0) microbatch(0) (%[[F0]]#1, %[[D0]])
// TIED-NEXT:  %[[D1:.*]] = pipe.wait %[[H1]]
// TIED-NEXT:  pipe.backward chunk(0) microbatch(1)
// TIED:       %[[H2:.*]] = pipe.recv edge(1) gradient microbatch(0) : !pipe.handle<tensor<8xf32>>
// TIED:       %[[G0:.*]] = pipe.gradient param(0) chunk(0)
// TIED-NEXT:  %[[G1:.*]] = pipe.wait %[[H2]]
// TIED-NEXT:  %[[W:.*]] = pipe.update param(0) (%[[G0]], %[[G1]])
// TIED-NEXT:  pipe.send %[[W]] edge(1) activation microbatch(0)
// TIED-NEXT:  }
// TIED-LABEL: pipe.program @tied_rank1
// TIED-NOT:   pipe.edge_value
// TIED-NEXT:  pipe.recv edge(0) activation microbatch(0)
// TIED:       %[[D0:.*]] = pipe.backward chunk(1) microbatch(0)
// TIED-NEXT:  pipe.send %[[D0]] edge(0) gradient microbatch(0)
// TIED:       %[[HW:.*]] = pipe.recv edge(1) activation microbatch(0) : !pipe.handle<tensor<8xf32>>
// TIED:       %[[G:.*]] = pipe.gradient param(0) chunk(1)
// TIED-NEXT:  pipe.send %[[G]] edge(1) gradient microbatch(0)
// TIED-NEXT:  %[[NEW:.*]] = pipe.wait %[[HW]]
// TIED-NEXT:  pipe.assign param(0) %[[NEW]]
// TIED-NEXT:  }

// A value that stays on its rank is not sent: the skip edge is local here.
// V-LABEL: pipe.program @v_rank0
// V:       %[[H:.*]] = pipe.forward chunk(0)
// V-NOT:   edge(1)
// V:       pipe.send %[[H]] edge(0) activation
// V:       %[[D:.*]]:2 = pipe.backward_input chunk(3)
// V:       pipe.recv edge(0) gradient
// V:       pipe.send %[[D]]#0 edge(3) gradient
// V:       pipe.add %[[D]]#1, %
// V-LABEL: pipe.program @v_rank1

// All receives for an op are posted before it waits for the first one: the
// sender may be busy with the last one first.
// SKIP-LABEL: pipe.program @skip_rank2
// SKIP-NEXT:  pipe.recv
// SKIP-NEXT:  pipe.recv
// SKIP-NEXT:  pipe.wait
// SKIP-NEXT:  pipe.wait
// SKIP-NEXT:  pipe.forward chunk(2)

// Programs that say no times are simulated first.
// HAND-LABEL: pipe.program @tied_rank0
// HAND:       pipe.forward chunk(0) microbatch(0) () {pipe.predicted = array<f64: 0.0{{.*}}>}
// HAND-NEXT:  %[[H:.*]] = pipe.recv edge(0) gradient
// HAND-NEXT:  pipe.send %{{.*}}#0 edge(0) activation
// HAND-NEXT:  pipe.wait %[[H]]
// HAND-NEXT:  pipe.backward chunk(0)
// HAND-LABEL: pipe.program @tied_rank1
// HAND:       pipe.recv edge(0) activation
// HAND-NEXT:  pipe.wait
// HAND-NEXT:  pipe.forward chunk(1)
// HAND-NEXT:  pipe.backward chunk(1)
// HAND-NEXT:  pipe.send %{{.*}} edge(0) gradient

// Both receives stand before both waits, also at the begin of a program: the
// sender computes both results at once, and needs both places.
// TWO-LABEL: pipe.program @two_rank1
// TWO-NEXT:  pipe.recv edge(0) activation
// TWO-NEXT:  pipe.recv edge(1) activation
// TWO-NEXT:  pipe.wait
// TWO-NEXT:  pipe.wait
// TWO-NEXT:  pipe.forward chunk(1)

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

//--- v.mlir
// A V of two stages: chunks 0 and 3 are on stage 0. %0 has two consumers.
pipe.pipeline @v stages(2) chunks_per_stage(2) placement(v) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0 = pipe.chunk 0 @scale(%x, %w) {forward = @scale_forward, backward = @scale_weight, backward_weight = @scale_weight} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @map(%0) {forward = @map_forward, backward = @map_input, backward_input = @map_input} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = pipe.chunk 2 @map(%1) {forward = @map_forward, backward = @map_input, backward_input = @map_input} : (tensor<2xf32>) -> tensor<2xf32>
  %3 = pipe.chunk 3 @loss(%2, %0) {forward = @loss_forward, backward = @loss_input, backward_input = @loss_input} : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  pipe.yield %3 : tensor<f32>
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

//--- hand.mlir
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
pipe.program @tied_rank0 of @tied stage(0) {
  %0:2 = pipe.forward chunk(0) microbatch(0) () : () -> (tensor<2xf32>, tensor<3xf32>)
  %1 = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
  pipe.backward chunk(0) microbatch(0) (%0#1, %1) : (tensor<3xf32>, tensor<2xf32>) -> ()
}
pipe.program @tied_rank1 of @tied stage(1) {
  %0 = pipe.edge_value edge(0) activation microbatch(0) : tensor<2xf32>
  %1 = pipe.forward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<f32>
  %2 = pipe.backward chunk(1) microbatch(0) (%0) : (tensor<2xf32>) -> tensor<2xf32>
}

//--- two.mlir
// Two values cross one cut.
pipe.pipeline @two stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2xf32>
  %w = pipe.param <"w", init = zeros> : tensor<2xf32>
  %0:2 = pipe.chunk 0 @split(%x, %w) {forward = @split_forward, backward = @split_backward} : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  %1 = pipe.chunk 1 @join(%0#0, %0#1) {forward = @join_forward, backward = @join_backward} : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @split(tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
func.func private @split_forward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<2xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>},
        tensor<2xf32> {pipe.role = #pipe.role<result 1>})
func.func private @split_backward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>},
    tensor<2xf32> {pipe.role = #pipe.role<result_grad 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @join(tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
func.func private @join_forward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<2xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @join_backward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<2xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>},
        tensor<2xf32> {pipe.role = #pipe.role<operand_grad 1>})
