// RUN: veeline-opt %s --pipe-differentiate --pipe-split-backward --pipe-round-parameters -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: veeline-opt %t.mlir --pipe-schedule="schedule=zb-h1 microbatches=2" --pipe-insert-communication --pipe-bufferize-chunks -o %t.bufferized.mlir
// RUN: veeline-opt %t.bufferized.mlir --pipe-plan-memory=optimizer=sgd -o %t.planned.mlir
// RUN: FileCheck %s --check-prefix=PLAN --input-file=%t.planned.mlir
// RUN: veeline-opt %t.planned.mlir --pipe-lower-to-runtime | FileCheck %s --check-prefix=STEP
// RUN: sed 's/, rounded = [^=]*\]\]//' %t.planned.mlir > %t.lost.mlir
// RUN: not veeline-opt %t.lost.mlir --pipe-lower-to-runtime 2>&1 | FileCheck %s --check-prefix=LOST
// RUN: sed 's/rounded = \[\[[0-9]*/rounded = [["w"/' %t.planned.mlir > %t.damaged.mlir
// RUN: not veeline-opt %t.damaged.mlir --pipe-lower-to-runtime 2>&1 | FileCheck %s --check-prefix=DAMAGED
// RUN: sed 's/rounded = \[\[[0-9]*/rounded = [[7/' %t.planned.mlir > %t.other.mlir
// RUN: not veeline-opt %t.other.mlir --pipe-lower-to-runtime 2>&1 | FileCheck %s --check-prefix=OTHER

// Both chunks multiply by the weight in bf16: F and B take it so. The bias is rounded on the way, by what adds it.

// PLAN:      pipe.program @net_rank0
// PLAN-SAME: rounded = {{\[\[}}0, {{[0-9]+}}, bf16]]
// PLAN:      pipe.program @net_rank1
// PLAN-SAME: rounded = {{\[\[}}2, {{[0-9]+}}, bf16]]

// The step of each rank begins with it, once for both microbatches.
// STEP-LABEL: func.func private @pipe_round_16_f32_to_bf16(%{{.*}}: memref<16xf32>, %{{.*}}: memref<16xbf16>)
// STEP:       arith.truncf
// STEP-LABEL: func.func @net_rank0_step
// STEP-NOT:   call @layer
// STEP:       call @pipe_round_16_f32_to_bf16
// STEP-NOT:   call @pipe_round
// STEP:       return

// LOST: error: 'pipe.forward' op uses parameter 0 as 'bf16', which has no place in the plan of this rank's memory
// OTHER: error: 'pipe.program' op rounds parameter 7, which has no place in the plan of this rank's memory
// DAMAGED: error: 'pipe.program' op has a damaged plan of its memory; run --pipe-plan-memory again

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2x4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4x4xf32>
  %b = pipe.param <"b", init = zeros> : tensor<4xf32>
  %v = pipe.param <"v", init = zeros> : tensor<4x4xf32>
  %0 = pipe.chunk 0 @layer(%x, %w, %b) : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %1 = pipe.chunk 1 @loss(%0, %v) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}

#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#id1 = affine_map<(d0) -> (d0)>
#none = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func.func private @layer_forward(
// CHECK-SAME:    tensor<4x4xf32> {pipe.role = #pipe.role<operand 1>}
// CHECK-SAME:    tensor<4xf32> {pipe.role = #pipe.role<operand 2>}
// CHECK-SAME:    %[[W:[^ ]*]]: tensor<4x4xbf16> {pipe.role = #pipe.role<rounded 1>})
// CHECK:         linalg.matmul ins(%{{.*}}, %[[W]] :
func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : bf16
  %e4 = tensor.empty() : tensor<4x4xbf16>
  %e1 = tensor.empty() : tensor<4xbf16>
  %e2 = tensor.empty() : tensor<2x4xbf16>
  %e = tensor.empty() : tensor<2x4xf32>
  %xr = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x4xf32>) outs(%e2 : tensor<2x4xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %r = arith.truncf %in : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x4xbf16>
  %wr = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%w : tensor<4x4xf32>) outs(%e4 : tensor<4x4xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %r = arith.truncf %in : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4x4xbf16>
  %br = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]} ins(%b : tensor<4xf32>) outs(%e1 : tensor<4xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %r = arith.truncf %in : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<4xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e2 : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  %p = linalg.matmul ins(%xr, %wr : tensor<2x4xbf16>, tensor<4x4xbf16>) outs(%c : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  %y = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]} ins(%p, %br : tensor<2x4xbf16>, tensor<4xbf16>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%in: bf16, %bias: bf16, %out: f32):
    %s = arith.addf %in, %bias : bf16
    %r = arith.extf %s : bf16 to f32
    linalg.yield %r : f32
  } -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// B needs the weight, in bf16 alone; W does not.
// CHECK-LABEL: func.func private @loss_backward_input(
// CHECK-NOT:     tensor<4x4xf32>
// CHECK-SAME:    tensor<4x4xbf16> {pipe.role = #pipe.role<rounded 1>})
// CHECK-LABEL: func.func private @loss_backward_weight(
// CHECK-NOT:     rounded
// CHECK:         return
func.func private @loss(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : bf16
  %zerof = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<4x4xbf16>
  %e2 = tensor.empty() : tensor<2x4xbf16>
  %e0 = tensor.empty() : tensor<f32>
  %xr = linalg.generic {indexing_maps = [#id2, #id2], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x4xf32>) outs(%e2 : tensor<2x4xbf16>) {
  ^bb0(%in: f32, %out: bf16):
    %r = arith.truncf %in : f32 to bf16
    linalg.yield %r : bf16
  } -> tensor<2x4xbf16>
  %wr = arith.truncf %w : tensor<4x4xf32> to tensor<4x4xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e2 : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  %p = linalg.matmul ins(%xr, %wr : tensor<2x4xbf16>, tensor<4x4xbf16>) outs(%c : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  %z = linalg.fill ins(%zerof : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [#id2, #none], iterator_types = ["reduction", "reduction"]} ins(%p : tensor<2x4xbf16>) outs(%z : tensor<f32>) {
  ^bb0(%in: bf16, %out: f32):
    %f = arith.extf %in : bf16 to f32
    %q = arith.mulf %f, %f : f32
    %s = arith.addf %q, %out : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
