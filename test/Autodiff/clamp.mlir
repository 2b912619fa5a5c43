// RUN: veeline-opt %s --pipe-differentiate | FileCheck %s

// Neither upstream's lowerings nor ours know math.clampf: it becomes a maximum
// and a minimum, before it is differentiated.

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) {
  %x = pipe.param <"x", init = zeros> : tensor<f32>
  %0 = pipe.chunk 0 @clamp(%x) : (tensor<f32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}

// CHECK-LABEL: func.func private @clamp_forward(
// CHECK-DAG:     %[[LOW:.+]] = arith.constant dense<-1.0
// CHECK-DAG:     %[[HIGH:.+]] = arith.constant dense<1.0
// CHECK:         arith.maximumf
// CHECK:         arith.minimumf
// CHECK-NOT:     math.clampf
func.func private @clamp(%x: tensor<f32>) -> tensor<f32> {
  %low = arith.constant dense<-1.0> : tensor<f32>
  %high = arith.constant dense<1.0> : tensor<f32>
  %0 = math.clampf %x to [%low, %high] : tensor<f32>
  return %0 : tensor<f32>
}
