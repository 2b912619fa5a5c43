// RUN: split-file %s %t
// RUN: veeline-opt %t/tied.mlir --pipe-schedule="schedule=1f1b microbatches=2" | FileCheck %s --check-prefix=TIED
// RUN: veeline-opt %t/tied.mlir --pipe-schedule="schedule=gpipe microbatches=2" | FileCheck %s --check-prefix=GPIPE
// RUN: veeline-opt %t/v.mlir --pipe-schedule="schedule=zb-v microbatches=1 sequential" | FileCheck %s --check-prefix=V
// RUN: veeline-opt %t/v.mlir --pipe-schedule="schedule=zb-v microbatches=1" \
// RUN:   --pipe-schedule="schedule=zb-v microbatches=3" | FileCheck %s --check-prefix=ONCE
// RUN: veeline-opt %t/skip.mlir --pipe-schedule="schedule=1f1b" | FileCheck %s --check-prefix=SKIP

// The accumulators of the other rank come along the edges of the parameters, the
// new values go back along them. All accumulators are sent before the first new
// value is waited for.
// TIED-LABEL: pipe.pipeline @tied {{.*}} microbatches(2) schedule("1f1b")
// TIED: pipe.chunk 0 {{.*}}cost = #pipe.cost<
// TIED-LABEL: pipe.program @tied_rank0 of @tied stage(0)
// TIED-NEXT:  %[[F0:.*]]:2 = pipe.forward chunk(0) microbatch(0) () {{.*}} -> (tensor<2xf32>, tensor<3xf32>)
// TIED-NEXT:  %[[F1:.*]]:2 = pipe.forward chunk(0) microbatch(1) ()
// TIED-NEXT:  %[[D0:.*]] = pipe.edge_value edge(0) gradient microbatch(0) : tensor<2xf32>
// TIED-NEXT:  pipe.backward chunk(0) microbatch(0) (%[[F0]]#1, %[[D0]]) {{.*}} -> ()
// TIED-NEXT:  %[[D1:.*]] = pipe.edge_value edge(0) gradient microbatch(1)
// TIED-NEXT:  pipe.backward chunk(0) microbatch(1) (%[[F1]]#1, %[[D1]])
// TIED-NEXT:  %[[G0:.*]] = pipe.gradient param(0) chunk(0) : tensor<8xf32>
// TIED-NEXT:  %[[G1:.*]] = pipe.edge_value edge(1) gradient microbatch(0) : tensor<8xf32>
// TIED-NEXT:  pipe.update param(0) (%[[G0]], %[[G1]])
// TIED-NEXT:  %[[H0:.*]] = pipe.gradient param(1) chunk(0) : tensor<3xf32>
// TIED-NEXT:  %[[H1:.*]] = pipe.edge_value edge(2) gradient microbatch(0) : tensor<3xf32>
// TIED-NEXT:  pipe.update param(1) (%[[H0]], %[[H1]])
// TIED-LABEL: pipe.program @tied_rank1 of @tied stage(1)
// TIED-NEXT:  %[[X0:.*]] = pipe.edge_value edge(0) activation microbatch(0)
// TIED-NEXT:  pipe.forward chunk(1) microbatch(0) (%[[X0]])
// TIED-NEXT:  pipe.backward chunk(1) microbatch(0) (%[[X0]])
// TIED-NEXT:  %[[X1:.*]] = pipe.edge_value edge(0) activation microbatch(1)
// TIED-NEXT:  pipe.forward chunk(1) microbatch(1) (%[[X1]])
// TIED-NEXT:  pipe.backward chunk(1) microbatch(1) (%[[X1]])
// TIED-NEXT:  pipe.gradient param(0) chunk(1)
// TIED-NEXT:  pipe.gradient param(1) chunk(1)
// TIED-NEXT:  %[[W:.*]] = pipe.edge_value edge(1) activation microbatch(0) : tensor<8xf32>
// TIED-NEXT:  pipe.assign param(0) %[[W]]
// TIED-NEXT:  %[[U:.*]] = pipe.edge_value edge(2) activation microbatch(0) : tensor<3xf32>
// TIED-NEXT:  pipe.assign param(1) %[[U]]
// TIED-NEXT:  }

// GPIPE-LABEL: pipe.program @tied_rank1
// GPIPE:       pipe.forward chunk(1) microbatch(0)
// GPIPE:       pipe.forward chunk(1) microbatch(1)
// GPIPE:       pipe.backward chunk(1)
// GPIPE:       pipe.backward chunk(1)

// Chunk 0 has two consumers: the gradient of the later one is added first. It
// has no B, chunks without parameters have no W.
// V:           pipe.pipeline @v stages(2)
// V:           pipe.pipeline @v_sequential stages(1) chunks_per_stage(4) placement(interleaved) microbatches(1) schedule("sequential")
// V-LABEL:     pipe.program @v_sequential_rank0 of @v_sequential
// V:           %[[D3:.*]]:2 = pipe.backward chunk(3)
// V-NEXT:      %[[D2:.*]] = pipe.backward chunk(2) microbatch(0) (%{{.*}}, %[[D3]]#0)
// V-NEXT:      %[[D1:.*]] = pipe.backward chunk(1) microbatch(0) (%{{.*}}, %[[D2]])
// V-NEXT:      %[[SUM:.*]] = pipe.add %[[D3]]#1, %[[D1]]
// V-NEXT:      pipe.backward chunk(0) microbatch(0) (%[[SUM]])
// V-LABEL:     pipe.program @v_rank0 of @v stage(0)
// V-NEXT:      %[[H0:.*]] = pipe.forward chunk(0) microbatch(0) ()
// V-NEXT:      %[[H2:.*]] = pipe.edge_value edge(3) activation microbatch(0)
// V-NEXT:      pipe.forward chunk(3) microbatch(0) (%[[H2]], %[[H0]])
// V-NEXT:      %[[D:.*]]:2 = pipe.backward_input chunk(3) microbatch(0) (%[[H2]], %[[H0]])
// V-NEXT:      %[[E:.*]] = pipe.edge_value edge(0) gradient microbatch(0)
// V-NEXT:      %[[SUM:.*]] = pipe.add %[[D]]#1, %[[E]]
// V-NEXT:      pipe.backward_weight chunk(0) microbatch(0) (%[[SUM]])
// V-NEXT:      %[[G:.*]] = pipe.gradient param(0) chunk(0)
// V-NEXT:      pipe.update param(0) (%[[G]])
// V-NEXT:      }
// V-LABEL:     pipe.program @v_rank1 of @v stage(1)
// V-NOT:       backward_weight
// V:           func.func

// A pipeline that has its programs keeps them.
// ONCE:     microbatches(1) schedule("zb-v")
// ONCE:     pipe.program @v_rank0
// ONCE:     pipe.program @v_rank1
// ONCE-NOT: pipe.program

// Both gradients come from other ranks; the later consumer's is first.
// SKIP-LABEL: pipe.program @skip_rank0
// SKIP:       pipe.forward chunk(0)
// SKIP-NEXT:  %[[D2:.*]] = pipe.edge_value edge(1) gradient microbatch(0)
// SKIP-NEXT:  %[[D1:.*]] = pipe.edge_value edge(0) gradient microbatch(0)
// SKIP-NEXT:  %[[SUM:.*]] = pipe.add %[[D2]], %[[D1]]
// SKIP-NEXT:  pipe.backward chunk(0) microbatch(0) (%[[SUM]])
// SKIP-LABEL: pipe.program @skip_rank1
// SKIP-LABEL: pipe.program @skip_rank2
// SKIP-DAG:   %[[H1:.*]] = pipe.edge_value edge(2) activation
// SKIP-DAG:   %[[H0:.*]] = pipe.edge_value edge(1) activation
// SKIP:       pipe.forward chunk(2) microbatch(0) (%[[H1]], %[[H0]])

//--- tied.mlir
// A chain of two stages with two tied parameters.
pipe.pipeline @tied stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %u = pipe.param <"u", init = zeros> : tensor<3xf32>
  %0 = pipe.chunk 0 @c0(%x, %w, %u) {forward = @c0_forward, backward = @c0_backward} : (tensor<4xf32>, tensor<8xf32>, tensor<3xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %w, %u) {forward = @c1_forward, backward = @c1_backward} : (tensor<2xf32>, tensor<8xf32>, tensor<3xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<4xf32>, tensor<8xf32>, tensor<3xf32>) -> tensor<2xf32>
func.func private @c0_forward(
    tensor<4xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 1>},
    tensor<3xf32> {pipe.role = #pipe.role<operand 2>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>},
        tensor<3xf32> {pipe.role = #pipe.role<residual 0>})
func.func private @c0_backward(
    tensor<4xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<3xf32> {pipe.role = #pipe.role<residual 0>},
    tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>},
        tensor<3xf32> {pipe.role = #pipe.role<param_grad 2>})
func.func private @c1(tensor<2xf32>, tensor<8xf32>, tensor<3xf32>) -> tensor<f32>
func.func private @c1_forward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 1>},
    tensor<3xf32> {pipe.role = #pipe.role<operand 2>})
    -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @c1_backward(
    tensor<2xf32> {pipe.role = #pipe.role<operand 0>},
    tensor<8xf32> {pipe.role = #pipe.role<operand 1>},
    tensor<3xf32> {pipe.role = #pipe.role<operand 2>})
    -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>},
        tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>},
        tensor<3xf32> {pipe.role = #pipe.role<param_grad 2>})

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
  %2 = pipe.chunk 2 @loss(%1, %0) {forward = @loss_forward, backward = @loss_input} : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
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
