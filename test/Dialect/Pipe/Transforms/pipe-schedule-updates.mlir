// Where updates stand: after the last op of the chunks that use the parameter,
// if one rank has it, and else at the end of the step.

// RUN: veeline-opt %s --pipe-schedule="schedule=zb-v microbatches=2" | FileCheck %s
// RUN: veeline-opt %s --pipe-schedule="schedule=zb-v microbatches=2 updates-at-end=true" | FileCheck %s --check-prefix=END
// RUN: veeline-opt %s --pipe-schedule="schedule=zb-v microbatches=2 replicas=2" | FileCheck %s --check-prefix=END
// RUN: sed 's/placement(v)/placement(v) clip_sync(optimistic)/' %s | veeline-opt --pipe-schedule="schedule=zb-v microbatches=2" | FileCheck %s --check-prefix=VALIDATED
// RUN: sed 's/placement(v)/placement(v) clip_sync(barrier)/' %s | veeline-opt --pipe-schedule="schedule=zb-v microbatches=2" | FileCheck %s --check-prefix=END

// Chunk 1 of the V is over before chunk 0 is, which has no B; what both use is
// updated after both.
// CHECK-LABEL: pipe.program @net_rank0
// CHECK:         pipe.backward_weight chunk(1) microbatch(1)
// CHECK-NEXT:    %[[G:.*]] = pipe.gradient param(1) chunk(1)
// CHECK-NEXT:    pipe.update param(1) (%[[G]])
// CHECK:         pipe.backward_weight chunk(0) microbatch(1)
// CHECK-NEXT:    pipe.gradient param(0) chunk(0)
// CHECK-NEXT:    pipe.update param(0)
// CHECK-NEXT:    pipe.gradient param(2) chunk(0)
// CHECK-NEXT:    pipe.gradient param(2) chunk(1)
// CHECK-NEXT:    pipe.update param(2)
// CHECK-NEXT:  }

// END-LABEL: pipe.program @net_rank0
// END-NOT:     pipe.update
// END:         pipe.backward_weight chunk(1) microbatch(1)
// END-NOT:     pipe.update
// END:         pipe.backward_weight chunk(0) microbatch(1)
// END:         pipe.update param(0)
// END:         pipe.update param(1)
// END:         pipe.update param(2)

// VALIDATED-LABEL: pipe.program @net_rank0
// VALIDATED:         pipe.validate
// VALIDATED:         pipe.backward_weight chunk(1) microbatch(1)
// VALIDATED:         pipe.update param(1)
// VALIDATED:         pipe.backward_weight chunk(0) microbatch(1)
// VALIDATED:         pipe.update param(0)

pipe.pipeline @net stages(1) chunks_per_stage(2) placement(v) {
  %x = pipe.batch "x" : tensor<2xf32>
  %u = pipe.param <"u", init = ones> : tensor<2xf32>
  %v = pipe.param <"v", init = ones> : tensor<2xf32>
  %w = pipe.param <"w", init = ones> : tensor<2xf32>
  %0 = pipe.chunk 0 @c0(%x, %u, %w) {forward = @f0, backward = @g0, backward_weight = @w0} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @c1(%0, %v, %w) {forward = @f1, backward = @g1, backward_input = @b1, backward_weight = @w1} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c0(tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
func.func private @c1(tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<f32>
func.func private @f0(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<operand 1>}, tensor<2xf32> {pipe.role = #pipe.role<operand 2>}) -> (tensor<2xf32> {pipe.role = #pipe.role<result 0>})
func.func private @f1(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}, tensor<2xf32> {pipe.role = #pipe.role<operand 1>}, tensor<2xf32> {pipe.role = #pipe.role<operand 2>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @g0(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<2xf32> {pipe.role = #pipe.role<param_grad 2>})
func.func private @w0(tensor<2xf32> {pipe.role = #pipe.role<result_grad 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<2xf32> {pipe.role = #pipe.role<param_grad 2>})
func.func private @g1(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>}, tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<2xf32> {pipe.role = #pipe.role<param_grad 2>})
func.func private @b1(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<operand_grad 0>})
func.func private @w1(tensor<2xf32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<2xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<2xf32> {pipe.role = #pipe.role<param_grad 2>})
