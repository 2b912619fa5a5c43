// RUN: veeline-opt %s --pipe-separate-joint --pipe-partition=stages=2 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=WARNING < %t

// Parameters that the forward does not use: v is in the chunks that compute
// parts of its gradient, u has none.

// WARNING: warning: parameter "u" is not used: it is dropped, not trained
// CHECK-LABEL: pipe.pipeline @net
// CHECK-DAG:     %[[X:.*]] = pipe.batch "x"
// CHECK-DAG:     %[[W:.*]] = pipe.param <"w",
// CHECK-DAG:     %[[V:.*]] = pipe.param <"v",
// CHECK-NOT:     pipe.param
// CHECK:         %[[B:.*]] = pipe.chunk 0 @net_chunk0(%[[X]], %[[W]], %[[V]])
// CHECK:         pipe.chunk 1 @net_chunk1(%[[B]], %[[V]])
// CHECK-LABEL: func.func private @net_chunk0_joint(
// CHECK:         %[[H:.*]] = arith.mulf %arg1, %arg0
// CHECK:         %[[PART:.*]] = arith.mulf %[[H]], %{{cst.*}}
// CHECK:         return %{{.*}}, %{{.*}}, %[[PART]]
// CHECK-LABEL: func.func private @net_chunk1_joint(
// CHECK:         %[[DECAY:.*]] = arith.mulf %arg1, %{{cst.*}}
// CHECK:         return %{{.*}}, %{{.*}}, %[[DECAY]]
func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>},
               %v: tensor<4xf32> {pipe.param = #pipe.param<"v", init = ones>}, %u: tensor<4xf32> {pipe.param = #pipe.param<"u", init = ones>})
    -> (tensor<f32>, tensor<4xf32> {pipe.gradient_of = "w"}, tensor<4xf32> {pipe.gradient_of = "v"}, tensor<4xf32> {pipe.gradient_of = "u"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %half = arith.constant dense<0.5> : tensor<4xf32>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %h = arith.mulf %w, %x : tensor<4xf32>
  %t = math.tanh %h : tensor<4xf32>
  %b = pipe.boundary %t : tensor<4xf32>
  %loss = linalg.dot ins(%b, %b : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %g0 = arith.addf %b, %b : tensor<4xf32>
  %gw = arith.mulf %g0, %x : tensor<4xf32>
  %decay = arith.mulf %v, %half : tensor<4xf32>
  %e = arith.mulf %h, %half : tensor<4xf32>
  %gv = arith.addf %decay, %e : tensor<4xf32>
  return %loss, %gw, %gv, %zeros : tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
