// RUN: veeline-opt %s | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -emit-bytecode | veeline-opt | FileCheck %s

// CHECK:      pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) stage_replicas [3, 1] {
// CHECK:      pipe.program @rank0 of @net stage(0) {
// CHECK:      pipe.program @rank2 of @net stage(0) replica(2) {
// CHECK-NEXT:   pipe.edge_value edge(0) gradient microbatch(2) : tensor<2xf32>
// CHECK-NEXT:   pipe.edge_value edge(1) gradient microbatch(2) : tensor<8xf32>
// CHECK-NEXT:   pipe.all_reduce param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(4) stage_replicas [3, 1] {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
  %1 = pipe.chunk 1 @d(%0, %w) : (tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<2xf32>
func.func private @d(tensor<2xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank0 of @net stage(0) replica(0) {
}
pipe.program @rank2 of @net stage(0) replica(2) {
  %0 = pipe.edge_value edge(0) gradient microbatch(2) : tensor<2xf32>
  %1 = pipe.edge_value edge(1) gradient microbatch(2) : tensor<8xf32>
  %h = pipe.all_reduce param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
}
