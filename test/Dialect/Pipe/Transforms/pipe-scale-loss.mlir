// RUN: veeline-opt %s --pipe-scale-loss | FileCheck %s
// RUN: veeline-opt %s --pipe-scale-loss=entry=net --pipe-partition | FileCheck %s --check-prefix=PIPELINE
// RUN: veeline-opt %s --pipe-scale-loss --pipe-partition --pipe-differentiate | FileCheck %s --check-prefix=GRADIENT

// The loss, and no metric, is multiplied by the buffer.
// CHECK-LABEL: func.func @net(
// CHECK-SAME:    %[[SCALE:[^:]*]]: tensor<f64> {pipe.buffer = "loss_scale", pipe.loss_scale}) -> (tensor<f64>, tensor<f64>)
// CHECK:         %[[LOSS:.*]] = linalg.dot
// CHECK:         %[[SCALED:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[LOSS]], %[[SCALE]] : tensor<f64>, tensor<f64>)
// CHECK:           arith.mulf
// CHECK:         return %[[SCALED]], %[[LOSS]]

// PIPELINE: pipe.pipeline @net
// PIPELINE:   %[[SCALE:.*]] = pipe.buffer "loss_scale" loss_scale : tensor<f64>
// PIPELINE:   pipe.chunk 0 {{.*}}%[[SCALE]]

// The gradient that the weights get is a multiple of the scale.
// GRADIENT-LABEL: func.func private @net_chunk0_backward(
// GRADIENT-SAME:    %[[X:[^:]*]]: tensor<4xf64> {pipe.role = #pipe.role<operand 0>}
// GRADIENT-SAME:    %[[FACTOR:[^:]*]]: tensor<f64> {pipe.role = #pipe.role<operand 1>}
// GRADIENT:         %[[SEED:.*]] = linalg.generic
// GRADIENT-SAME:      ins(%[[FACTOR]],
// GRADIENT:         linalg.generic
// GRADIENT-SAME:      %[[X]]

func.func @net(%x: tensor<4xf64> {pipe.batch = "x"},
               %w: tensor<4xf64> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f64>, tensor<f64>) {
  %zero = arith.constant 0.0 : f64
  %scalar = tensor.empty() : tensor<f64>
  %start = linalg.fill ins(%zero : f64) outs(%scalar : tensor<f64>) -> tensor<f64>
  %loss = linalg.dot ins(%x, %w : tensor<4xf64>, tensor<4xf64>) outs(%start : tensor<f64>) -> tensor<f64>
  return %loss, %loss : tensor<f64>, tensor<f64>
}
