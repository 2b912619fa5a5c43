// Forwards alone: chunk functions keep nothing, ops need no derivative, and programs have forwards and messages. There are no
// gradients and no updates, and arenas have parameters without a state.
// RUN: veeline-opt %s --pipe-differentiate=forward-only=true | FileCheck %s
// RUN: veeline-opt %s --pipe-differentiate=forward-only=true --pipe-schedule="microbatches=2" \
// RUN:   --pipe-insert-communication --pipe-verify-communication | FileCheck %s --check-prefix=PROGRAM

// CHECK:     pipe.pipeline @net {{.*}}pipe.forward_only
// CHECK-NOT: backward
// CHECK:     func.func private @first_forward(%{{.*}}: tensor<4xf32> {pipe.role = #pipe.role<operand 0>}, %{{.*}}: tensor<4xf32> {pipe.role = #pipe.role<operand 1>})
// CHECK-SAME: -> (tensor<4xf32> {pipe.role = #pipe.role<result 0>})
// CHECK-NOT: backward

// PROGRAM-LABEL: pipe.program @net_rank0
// PROGRAM:         pipe.forward chunk(0) microbatch(0)
// PROGRAM:         pipe.send
// PROGRAM:         pipe.forward chunk(0) microbatch(1)
// PROGRAM-NOT:     pipe.{{update|gradient|backward}}
// PROGRAM-LABEL: pipe.program @net_rank1
// PROGRAM:         pipe.recv
// PROGRAM:         pipe.forward chunk(1) microbatch(1)
// PROGRAM-NOT:     pipe.{{update|gradient|backward}}

pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
  %w = pipe.param <"w", init = ones> : tensor<4xf32>
  %x = pipe.batch "x" : tensor<4xf32>
  %0 = pipe.chunk 0 @first(%x, %w) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = pipe.chunk 1 @last(%0) : (tensor<4xf32>) -> tensor<f32>
  pipe.yield %1 : tensor<f32>
}
func.func private @first(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.sin %x : (tensor<4xf32>) -> tensor<4xf32>
  %1 = arith.mulf %0, %w : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @last(%x: tensor<4xf32>) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %sum = linalg.reduce ins(%x : tensor<4xf32>) outs(%zero : tensor<f32>) dimensions = [0]
    (%a: f32, %b: f32) { %0 = arith.addf %a, %b : f32 linalg.yield %0 : f32 }
  return %sum : tensor<f32>
}
