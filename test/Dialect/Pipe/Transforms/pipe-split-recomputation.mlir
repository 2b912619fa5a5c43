// RUN: veeline-opt %s --pipe-differentiate=recompute=full --pipe-split-recomputation --pipe-split-backward | FileCheck %s
// RUN: veeline-opt %s --pipe-differentiate --pipe-split-recomputation | FileCheck %s --check-prefix=BALANCED
// RUN: veeline-opt %s --pipe-differentiate=recompute=full --pipe-split-recomputation --pipe-split-backward \
// RUN:   "--pipe-schedule=schedule=1f1b microbatches=2" | FileCheck %s --check-prefix=FUSED
// RUN: veeline-opt %s --pipe-differentiate=recompute=full --pipe-split-recomputation --pipe-split-backward \
// RUN:   "--pipe-schedule=schedule=zb-h1 microbatches=2" | FileCheck %s --check-prefix=SPLIT

// RUN: veeline-opt %s --pipe-differentiate --pipe-split-recomputation -o /dev/null 2>&1 | FileCheck %s --check-prefix=WARNING

// What balanced recomputes is cheap.
// WARNING: [[#@LINE+4]]:1: warning: has no chunk that recomputes ahead of its backward: what backwards recompute is cheap, or only the chunk of the loss recomputes
// BALANCED-NOT: recomputation

// CHECK-LABEL: pipe.pipeline @net
pipe.pipeline @net stages(3) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<2x4xf32>
  %v = pipe.param <"v", init = zeros> : tensor<4x4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<4x4xf32>
  %u = pipe.param <"u", init = zeros> : tensor<4x4xf32>
  // CHECK: pipe.chunk 0 @first
  // CHECK-SAME: recomputation = @first_recomputation
  %0 = pipe.chunk 0 @first(%x, %v, %w) : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  // CHECK: pipe.chunk 1 @layer
  // CHECK-SAME: recomputation = @layer_recomputation
  %1 = pipe.chunk 1 @layer(%0, %u) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  // No gradient comes into the chunk of the loss.
  // CHECK: pipe.chunk 2 @loss
  // CHECK-NOT: recomputation
  // CHECK-SAME: (tensor<2x4xf32>) -> tensor<f32>
  %2 = pipe.chunk 2 @loss(%1) : (tensor<2x4xf32>) -> tensor<f32>
  pipe.yield %2 : tensor<f32>
}

// y = tanh(x v) w: R computes the product, and tanh of it, which is dearer to
// compute again than to keep.
// CHECK-LABEL: func.func private @first_recomputation(
// CHECK-SAME:    %[[X:[^ ]*]]: tensor<2x4xf32> {pipe.role = #pipe.role<operand 0>},
// CHECK-SAME:    %[[V:[^ ]*]]: tensor<4x4xf32> {pipe.role = #pipe.role<operand 1>})
// CHECK-SAME:  -> (tensor<2x4xf32> {pipe.role = #pipe.role<recomputed 0>}) {
// CHECK:         linalg.matmul {{.*}}ins(%[[X]], %[[V]] :
// CHECK-NOT:     linalg.matmul
// CHECK:         return

// Both halves take it, and neither computes it again.
// CHECK-LABEL: func.func private @first_backward(
// CHECK-SAME:    {pipe.role = #pipe.role<recomputed 0>}
// CHECK-SAME:  -> (tensor<4x4xf32> {pipe.role = #pipe.role<param_grad 1>}, tensor<4x4xf32> {pipe.role = #pipe.role<param_grad 2>}) {
// CHECK-NOT:     math.tanh
// CHECK:         return
// CHECK-LABEL: func.func private @first_backward_weight(
// CHECK-SAME:    {pipe.role = #pipe.role<recomputed 0>}
func.func private @first(%x: tensor<2x4xf32>, %v: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%x, %v : tensor<2x4xf32>, tensor<4x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = math.tanh %0 : tensor<2x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<2x4xf32>, tensor<4x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2 : tensor<2x4xf32>
}

// Here W takes only operands: the recomputed value ends with B.
// CHECK-LABEL: func.func private @layer_recomputation(
// CHECK-LABEL: func.func private @layer_backward_input(
// CHECK-SAME:    {pipe.role = #pipe.role<recomputed 0>}
// CHECK-SAME:    {pipe.role = #pipe.role<saved 0>}
// CHECK-LABEL: func.func private @layer_backward_weight(
// CHECK-NOT:     recomputed
// CHECK-SAME:    {pipe.role = #pipe.role<saved 0>})
// CHECK-SAME:  -> (tensor<4x4xf32> {pipe.role = #pipe.role<param_grad 1>})
func.func private @layer(%x: tensor<2x4xf32>, %u: tensor<4x4xf32>) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%x, %u : tensor<2x4xf32>, tensor<4x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = math.tanh %0 : tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

func.func private @loss(%x: tensor<2x4xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<2x4xf32>) outs(%c : tensor<f32>) dimensions = [0, 1]
  return %0 : tensor<f32>
}

// R needs no gradient, so it stands before the receive of one is waited for.
// FUSED-LABEL: pipe.program @net_rank0
// FUSED:      %[[AGAIN:.*]] = pipe.recomputation chunk(0) microbatch(0) () {{.*}} : () -> tensor<2x4xf32>
// FUSED:      pipe.backward chunk(0) microbatch(0) ({{.*}}%[[AGAIN]]{{.*}})
// FUSED-LABEL: pipe.program @net_rank1
// FUSED:      pipe.recomputation chunk(1) microbatch(0)
// FUSED-LABEL: pipe.program @net_rank2
// FUSED-NOT:  pipe.recomputation

// SPLIT-LABEL: pipe.program @net_rank1
// SPLIT:      %[[AGAIN:.*]] = pipe.recomputation chunk(1) microbatch(0)
// SPLIT:      pipe.backward_input chunk(1) microbatch(0) ({{.*}}%[[AGAIN]]{{.*}})
