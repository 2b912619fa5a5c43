// RUN: veeline-opt %s | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -emit-bytecode | veeline-opt | FileCheck %s

// CHECK:      pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(2) replicas(4) schedule("1f1b") {
// CHECK:      pipe.pipeline @alone stages(1) chunks_per_stage(1) placement(linear) {
// CHECK:      pipe.program @rank
// CHECK-NEXT:   %[[H:.*]] = pipe.all_reduce param(0) chunk(0) stream(0) communicator(1) group(3) : !pipe.handle<tensor<8xf32>>
// CHECK-NEXT:   %[[I:.*]] = pipe.all_reduce param(1) chunk(0) communicator(1) : !pipe.handle<tensor<4xf64>>
// CHECK-NEXT:   pipe.wait %[[H]] : !pipe.handle<tensor<8xf32>>
// CHECK-NEXT:   pipe.wait %[[I]] : !pipe.handle<tensor<4xf64>>

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(2) replicas(4) schedule("1f1b") {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %b = pipe.param <"b", init = zeros> : tensor<4xf64>
  %0 = pipe.chunk 0 @c(%x, %w, %b) : (tensor<4xf32>, tensor<8xf32>, tensor<4xf64>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>, tensor<4xf64>) -> tensor<f32>
pipe.pipeline @alone stages(1) chunks_per_stage(1) placement(linear) replicas(1) {
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @d(%x) : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @d(tensor<4xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
  %h = pipe.all_reduce param(0) chunk(0) stream(0) communicator(1) group(3) : !pipe.handle<tensor<8xf32>>
  %i = pipe.all_reduce param(1) chunk(0) stream(1) communicator(1) : !pipe.handle<tensor<4xf64>>
  %g = pipe.wait %h : !pipe.handle<tensor<8xf32>>
  %j = pipe.wait %i : !pipe.handle<tensor<4xf64>>
}
