// RUN: veeline-opt %s | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -emit-bytecode | veeline-opt | FileCheck %s

// CHECK:      pipe.program @rank
// CHECK-NEXT: ^bb0(%[[BEFORE:.*]]: tensor<8xf32>):
// CHECK-NEXT:   %[[A:.*]] = pipe.all_gather late %[[BEFORE]] param(0) communicator(1) : !pipe.handle<tensor<8xf32>>
// CHECK-NEXT:   pipe.wait %[[A]]
// CHECK-NEXT:   %[[H:.*]] = pipe.all_reduce scattered param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
// CHECK-NEXT:   %[[G:.*]] = pipe.wait %[[H]]
// CHECK-NEXT:   %[[W:.*]] = pipe.update param(0) (%[[G]])
// CHECK-NEXT:   pipe.carry %[[W]]
// CHECK:      pipe.program @now
// CHECK:        pipe.all_gather %{{.*}} param(1) communicator(2)

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) microbatches(1) replicas(2) shard_optimizer {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %v = pipe.param <"v", init = zeros> : tensor<4xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
  %1 = pipe.chunk 1 @d(%0, %v) : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @d(tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<4xf32>
pipe.program @rank of @net stage(0) {
^bb0(%before: tensor<8xf32>):
  %a = pipe.all_gather late %before param(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  %v = pipe.wait %a : !pipe.handle<tensor<8xf32>>
  %h = pipe.all_reduce scattered param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  %g = pipe.wait %h : !pipe.handle<tensor<8xf32>>
  %w = pipe.update param(0) (%g) : (tensor<8xf32>) -> tensor<8xf32>
  pipe.carry %w : tensor<8xf32>
}
pipe.program @now of @net stage(1) {
  %h = pipe.all_reduce scattered param(1) chunk(1) communicator(2) : !pipe.handle<tensor<4xf32>>
  %g = pipe.wait %h : !pipe.handle<tensor<4xf32>>
  %w = pipe.update param(1) (%g) : (tensor<4xf32>) -> tensor<4xf32>
  %a = pipe.all_gather %w param(1) communicator(2) : !pipe.handle<tensor<4xf32>>
  %v = pipe.wait %a : !pipe.handle<tensor<4xf32>>
}
