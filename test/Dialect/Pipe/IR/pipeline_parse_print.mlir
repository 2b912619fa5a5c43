// RUN: veeline-opt %s | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -emit-bytecode | veeline-opt | FileCheck %s

// CHECK-LABEL: pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) schedule("1f1b") attributes {note = "kept"} {
// CHECK-NEXT:    %[[W:.*]] = pipe.param <"w", init = normal(0.000000e+00, 2.000000e-02)> : tensor<4x4xf32>
// CHECK-NEXT:    %[[X:.*]] = pipe.batch "x" : tensor<2x4xf32>
// CHECK-NEXT:    %[[B:.*]] = pipe.buffer "cos" : tensor<2x4xf32>
// CHECK-NEXT:    pipe.buffer "scale" loss_scale : tensor<f32>
// CHECK-NEXT:    %[[C0:.*]]:2 = pipe.chunk 0 @c0(%[[X]], %[[W]]) {backward = @f, backward_weight = @f, cost = #pipe.cost<forward = 3, backward_input = 0, backward_weight = 6>, forward = @f} : (tensor<2x4xf32>, tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<f32>)
// CHECK-NEXT:    %[[C1:.*]] = pipe.chunk 1 @c1(%[[C0]]#0, %[[B]]) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<f32>
// CHECK-NEXT:    pipe.yield %[[C1]], %[[C0]]#1 : tensor<f32>, tensor<f32>
// CHECK-NEXT:  }
pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) schedule("1f1b") attributes {note = "kept"} {
  %w = pipe.param <"w", init = normal(0.0, 0.02)> : tensor<4x4xf32>
  %x = pipe.batch "x" : tensor<2x4xf32>
  %b = pipe.buffer "cos" : tensor<2x4xf32>
  %s = pipe.buffer "scale" loss_scale : tensor<f32>
  %0:2 = pipe.chunk 0 @c0(%x, %w) {forward = @f, backward = @f, backward_weight = @f, cost = #pipe.cost<forward = 3, backward_input = 0, backward_weight = 6>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<f32>)
  %1 = pipe.chunk 1 @c1(%0#0, %b) : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<f32>
  pipe.yield %1, %0#1 : tensor<f32>, tensor<f32>
}
func.func private @c0(tensor<2x4xf32>, tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<f32>)
func.func private @c1(tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<f32>
func.func private @f()

// CHECK: pipe.pipeline @v stages(1) chunks_per_stage(2) placement(v) {
pipe.pipeline @v stages(1) chunks_per_stage(2) placement(v) {
  %0 = pipe.chunk 0 @g() : () -> tensor<f32>
  %1 = pipe.chunk 1 @h(%0) : (tensor<f32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @g() -> tensor<f32>
func.func private @h(tensor<f32>) -> tensor<f32>

// CHECK: pipe.pipeline @wave stages(1) chunks_per_stage(1) placement(wave) {
// CHECK-NEXT: pipe.batch "labels" range [0, 5] : tensor<2xi32>
pipe.pipeline @wave stages(1) chunks_per_stage(1) placement(wave) {
  %x = pipe.batch "labels" range [0, 5] : tensor<2xi32>
  %0 = pipe.chunk 0 @g() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}

// CHECK: pipe.pipeline @interleaved stages(1) chunks_per_stage(1) placement(interleaved) {
pipe.pipeline @interleaved stages(1) chunks_per_stage(1) placement(interleaved) {
  %0 = pipe.chunk 0 @g() : () -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
