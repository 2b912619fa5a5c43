// RUN: veeline-opt %s --pipe-weight-loss=weight=tokens | FileCheck %s
// RUN: veeline-opt %s --pipe-weight-loss="entry=net weight=tokens only" | FileCheck %s --check-prefix=ONLY
// RUN: veeline-opt %s --pipe-weight-loss=weight=tokens --pipe-partition | FileCheck %s --check-prefix=PIPELINE
// RUN: veeline-opt %s --pipe-weight-loss="weight=tokens only" --pipe-partition=forward-only 2>/dev/null | FileCheck %s --check-prefix=WEIGHTS
// RUN: veeline-opt %s --pipe-weight-loss=weight=metric2 --pipe-scale-loss | FileCheck %s --check-prefix=BOTH

// The loss, and no metric, is multiplied by the argument.
// CHECK-LABEL: func.func @net(
// CHECK-SAME:    %[[MASK:[^:]*]]: tensor<4xf32> {pipe.batch = "mask"}
// CHECK-SAME:    %[[FACTOR:[^:]*]]: tensor<f64> {pipe.batch = "loss_weight", pipe.loss_weight})
// CHECK-SAME:    -> (tensor<f64>, tensor<f32> {pipe.metric = "tokens"}, tensor<f64>)
// CHECK:         %[[LOSS:.*]] = linalg.dot
// CHECK:         %[[TOKENS:.*]] = linalg.reduce
// CHECK:         %[[WEIGHTED:.*]] = linalg.generic
// CHECK-SAME:      ins(%[[LOSS]], %[[FACTOR]] : tensor<f64>, tensor<f64>)
// CHECK:           arith.mulf
// CHECK:         return %[[WEIGHTED]], %[[TOKENS]], %{{.*}} : tensor<f64>, tensor<f32>, tensor<f64>

// The weight alone, in the loss's type, with all arguments and nothing that it does not need.
// ONLY-LABEL: func.func @net(
// ONLY-SAME:    %[[FACTOR:[^:]*]]: tensor<f64> {pipe.batch = "loss_weight", pipe.loss_weight}) -> tensor<f64>
// ONLY-NOT:     linalg.dot
// ONLY:         %[[TOKENS:.*]] = linalg.reduce
// ONLY:         %[[WIDE:.*]] = arith.extf %[[TOKENS]]
// ONLY:         %[[WEIGHT:.*]] = linalg.generic
// ONLY-SAME:      ins(%[[WIDE]], %[[FACTOR]]
// ONLY:         return %[[WEIGHT]] : tensor<f64>

// PIPELINE: %[[FACTOR:.*]] = pipe.batch "loss_weight" loss_weight : tensor<f64>
// PIPELINE: pipe.chunk 0 {{.*}}%[[FACTOR]]
// PIPELINE: pipe.yield {{.*}} as ["loss", "tokens", "metric2"] :

// WEIGHTS:     pipe.pipeline @net
// WEIGHTS-NOT: pipe.param
// WEIGHTS:     pipe.batch "x"
// WEIGHTS:     pipe.chunk 0
// WEIGHTS:     pipe.yield %{{.*}} : tensor<f64>

// BOTH: %{{[^:]*}}: tensor<f64> {pipe.batch = "loss_weight", pipe.loss_weight}, %{{[^:]*}}: tensor<f64> {pipe.buffer = "loss_scale", pipe.loss_scale})

func.func @net(%x: tensor<4xf64> {pipe.batch = "x"}, %mask: tensor<4xf32> {pipe.batch = "mask"},
               %count: tensor<f64> {pipe.batch = "count"},
               %w: tensor<4xf64> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f64>, tensor<f32> {pipe.metric = "tokens"}, tensor<f64>) {
  %zero = arith.constant 0.0 : f64
  %none = arith.constant 0.0 : f32
  %scalar = tensor.empty() : tensor<f64>
  %start = linalg.fill ins(%zero : f64) outs(%scalar : tensor<f64>) -> tensor<f64>
  %small = tensor.empty() : tensor<f32>
  %first = linalg.fill ins(%none : f32) outs(%small : tensor<f32>) -> tensor<f32>
  %loss = linalg.dot ins(%x, %w : tensor<4xf64>, tensor<4xf64>) outs(%start : tensor<f64>) -> tensor<f64>
  %tokens = linalg.reduce {arith.addf} ins(%mask : tensor<4xf32>) outs(%first : tensor<f32>) dimensions = [0]
  return %loss, %tokens, %count : tensor<f64>, tensor<f32>, tensor<f64>
}
