// RUN: veeline-opt %s --pipe-differentiate=recompute=none | FileCheck %s --check-prefix=NONE
// RUN: veeline-opt %s --pipe-differentiate | FileCheck %s --check-prefix=BALANCED
// RUN: veeline-opt %s --pipe-differentiate=recompute=cheap | FileCheck %s --check-prefix=CHEAP
// RUN: veeline-opt %s --pipe-differentiate=recompute=full | FileCheck %s --check-prefix=FULL
// RUN: veeline-opt %s --pipe-differentiate=recompute=0.5 | FileCheck %s --check-prefix=HALF
// RUN: veeline-opt %s --pipe-differentiate=recompute=0.1 | FileCheck %s --check-prefix=TENTH
// RUN: veeline-opt %s --pipe-differentiate=recompute=0B/ns | FileCheck %s --check-prefix=FREE
// RUN: veeline-opt %s --pipe-differentiate=recompute=1000B/ns | FileCheck %s --check-prefix=NONE
// RUN: veeline-opt %s --pipe-differentiate=recompute=none,full | FileCheck %s --check-prefix=LIST

// What each choice keeps from forward to backward. A layer is a product, its
// sum with a bias, and the square of that: backward reads the sum for the
// gradient of the square, and the square for that of the next layer's weights.

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %x = pipe.batch "x" : tensor<8x8xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8x8xf32>
  %b = pipe.param <"b", init = zeros> : tensor<8x8xf32>
  %0 = pipe.chunk 0 @layers(%x, %w, %b) : (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = pipe.chunk 1 @loss(%0, %w) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}

// Kept: two sums and the first square.
// NONE-LABEL: func.func private @layers_forward(
// NONE-SAME:    residual 0
// NONE-SAME:    residual 1
// NONE-SAME:    residual 2
// NONE-NOT:     residual 3
// NONE-SAME:    }) {
// NONE-LABEL: func.func private @layers_backward(
// NONE-COUNT-3: linalg.matmul
// NONE-NOT:     linalg.matmul
// NONE:         return

// The square is computed again.
// BALANCED-LABEL: func.func private @layers_forward(
// BALANCED-SAME:    residual 0
// BALANCED-SAME:    residual 1
// BALANCED-NOT:     residual 2
// BALANCED-SAME:    }) {
// CHEAP-LABEL: func.func private @layers_forward(
// CHEAP-SAME:    residual 0
// CHEAP-SAME:    residual 1
// CHEAP-NOT:     residual 2
// CHEAP-SAME:    }) {

// Nothing is kept, and both products run again.
// FULL-LABEL: func.func private @layers_forward(
// FULL-NOT:     residual
// FULL-SAME:    -> (tensor<8x8xf32> {pipe.role = #pipe.role<result 0>}) {
// FULL-LABEL: func.func private @layers_backward(
// FULL-NOT:     pipe.role<result 0>
// FULL-NOT:     residual
// FULL-SAME:    }) {
// FULL-COUNT-5: linalg.matmul
// FULL-NOT:     linalg.matmul
// FULL:         return
// FREE-LABEL: func.func private @layers_forward(
// FREE-NOT:     residual
// FREE-SAME:    -> (tensor<8x8xf32> {pipe.role = #pipe.role<result 0>}) {

// The second of two pieces runs again from what the first gives.
// HALF-LABEL: func.func private @layers_forward(
// HALF-SAME:    residual 0
// HALF-SAME:    residual 1
// HALF-NOT:     residual 2
// HALF-SAME:    }) {
// HALF-LABEL: func.func private @layers_backward(
// HALF-COUNT-4: linalg.matmul
// HALF-NOT:     linalg.matmul
// HALF:         return

// A tenth of two pieces is none.
// TENTH-LABEL: func.func private @layers_forward(
// TENTH-SAME:    residual 0
// TENTH-SAME:    residual 1
// TENTH-SAME:    residual 2
// TENTH-NOT:     residual 3
// TENTH-SAME:    }) {

// Each chunk its own; marks of pieces do not go on.
// LIST:       recompute = "none"
// LIST:       recompute = "full"
// LIST-LABEL: func.func private @layers_forward(
// LIST-SAME:    residual 2
// LIST-NOT:   pipe.piece_end
// LIST-LABEL: func.func private @loss_backward(
// LIST-NOT:     residual
// LIST-SAME:    }) {

func.func private @layers(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p0 = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s0 = arith.addf %p0, %b : tensor<8x8xf32>
  %h0 = arith.mulf %s0, %s0 {pipe.piece_end} : tensor<8x8xf32>
  %p1 = linalg.matmul ins(%h0, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>) -> tensor<8x8xf32>
  %s1 = arith.addf %p1, %b : tensor<8x8xf32>
  %h1 = arith.mulf %s1, %s1 : tensor<8x8xf32>
  return %h1 : tensor<8x8xf32>
}

func.func private @loss(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = arith.mulf %x, %w : tensor<8x8xf32>
  %1 = arith.mulf %0, %0 : tensor<8x8xf32>
  %2 = linalg.reduce { arith.addf } ins(%1 : tensor<8x8xf32>) outs(%c : tensor<f32>) dimensions = [0, 1]
  return %2 : tensor<f32>
}
