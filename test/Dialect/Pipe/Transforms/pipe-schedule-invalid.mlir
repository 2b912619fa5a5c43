// RUN: split-file %s %t
// RUN: not veeline-opt %t/linear.mlir --pipe-schedule="schedule=1f1" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not veeline-opt %t/linear.mlir --pipe-schedule="schedule=zb-v" 2>&1 | FileCheck %s --check-prefix=CHUNKS
// RUN: not veeline-opt %t/linear.mlir --pipe-schedule="microbatches=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not veeline-opt %t/interleaved.mlir --pipe-schedule="schedule=zb-v" 2>&1 | FileCheck %s --check-prefix=PLACEMENT
// RUN: veeline-opt %t/interleaved.mlir --pipe-schedule="schedule=interleaved-1f1b microbatches=1" 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: not veeline-opt %t/linear.mlir --pipe-schedule="schedule=pipedream slip=false" 2>&1 | FileCheck %s --check-prefix=FLUSH
// RUN: not veeline-opt %t/primal.mlir --pipe-schedule 2>&1 | FileCheck %s --check-prefix=PRIMAL
// RUN: not veeline-opt %t/gradient.mlir --pipe-schedule 2>&1 | FileCheck %s --check-prefix=GRADIENT

// NAME:      linear.mlir:1:1: error: 'pipe.pipeline' op unknown schedule '1f1'; did you mean '1f1b'? Known schedules are sequential, gpipe, 1f1b, {{.*}}zb-v
// CHUNKS:    linear.mlir:1:1: error: 'pipe.pipeline' op {{.*}}zb-v{{.*}} 2 chunks
// ZERO:      error: microbatches is at least 1, found 0
// PLACEMENT: interleaved.mlir:1:1: error: 'pipe.pipeline' op has placement 'interleaved', but schedule 'zb-v' is made for placement 'v'; partition with that placement
// FEW:       interleaved.mlir:1:1: warning: schedule 'interleaved-1f1b': 1 microbatch is fewer than the 2 stages, so every stage waits
// FLUSH:     linear.mlir:1:1: error: 'pipe.pipeline' op cannot be compiled with schedule 'pipedream', which updates weights without a flush, where no work may run in the next step (slip=false); '1f1b' has the same order with one
// PRIMAL:    primal.mlir:3:8: error: 'pipe.chunk' op has no forward function; run --pipe-differentiate first
// GRADIENT:  gradient.mlir:3:8: error: 'pipe.chunk' op backward takes result_grad 0, which nothing gives

//--- linear.mlir
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f, backward = @b} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @b() -> (tensor<f32> {pipe.role = #pipe.role<param_grad 0>})

//--- interleaved.mlir
pipe.pipeline @net stages(2) chunks_per_stage(2) placement(interleaved) {
  %x = pipe.batch "x" : tensor<f32>
  %0 = pipe.chunk 0 @c(%x) {forward = @f} : (tensor<f32>) -> tensor<f32>
  %1 = pipe.chunk 1 @c(%0) {forward = @f, backward = @b, backward_input = @b} : (tensor<f32>) -> tensor<f32>
  %2 = pipe.chunk 2 @c(%1) {forward = @f, backward = @b, backward_input = @b} : (tensor<f32>) -> tensor<f32>
  %3 = pipe.chunk 3 @c(%2) {forward = @f, backward = @b, backward_input = @b} : (tensor<f32>) -> tensor<f32>
  pipe.yield %3 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @b(tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<operand_grad 0>})

//--- primal.mlir
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>

//--- gradient.mlir
pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @c(%w) {forward = @f, backward = @b} : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<f32>) -> tensor<f32>
func.func private @f(tensor<f32> {pipe.role = #pipe.role<operand 0>}) -> (tensor<f32> {pipe.role = #pipe.role<result 0>})
func.func private @b(tensor<f32> {pipe.role = #pipe.role<result_grad 0>}) -> (tensor<f32> {pipe.role = #pipe.role<param_grad 0>})
