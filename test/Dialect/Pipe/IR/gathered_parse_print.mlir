// RUN: veeline-opt %s | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -mlir-print-op-generic | veeline-opt | FileCheck %s
// RUN: veeline-opt %s -emit-bytecode | veeline-opt | FileCheck %s

// CHECK:      pipe.program @rank
// CHECK-NEXT:   pipe.gathered param(0)
// CHECK-NEXT:   %[[H:.*]] = pipe.all_reduce scattered param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
// CHECK-NEXT:   %[[G:.*]] = pipe.wait %[[H]]
// CHECK-NEXT:   %[[W:.*]] = pipe.update param(0) (%[[G]])
// CHECK-NEXT:   pipe.all_gather %[[W]] param(0) communicator(1)

pipe.pipeline @net stages(1) chunks_per_stage(1) placement(linear) microbatches(1) replicas(2) shard_optimizer {
  %x = pipe.batch "x" : tensor<4xf32>
  %w = pipe.param <"w", init = zeros> : tensor<8xf32>
  %0 = pipe.chunk 0 @c(%x, %w) : (tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
  pipe.yield %0 : tensor<f32>
}
func.func private @c(tensor<4xf32>, tensor<8xf32>) -> tensor<f32>
pipe.program @rank of @net stage(0) {
  pipe.gathered param(0)
  %h = pipe.all_reduce scattered param(0) chunk(0) communicator(1) : !pipe.handle<tensor<8xf32>>
  %g = pipe.wait %h : !pipe.handle<tensor<8xf32>>
  %w = pipe.update param(0) (%g) : (tensor<8xf32>) -> tensor<8xf32>
  %a = pipe.all_gather %w param(0) communicator(1) : !pipe.handle<tensor<8xf32>>
}
