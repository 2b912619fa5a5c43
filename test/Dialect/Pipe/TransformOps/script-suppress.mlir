// RUN: veeline-opt %s --transform-interpreter --pipe-verify-communication | FileCheck %s

// What cannot be cut stays as it was, and the script goes on with something else.

// CHECK:     pipe.pipeline @net stages(1)
// CHECK:     pipe.program @net_rank0
// CHECK-NOT: stages(8)

module attributes {transform.with_named_sequence} {
  func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %loss = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %net = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.op<"func.func">
    transform.sequence %net : !transform.op<"func.func"> failures(suppress) {
    ^bb0(%f: !transform.op<"func.func">):
      %0 = transform.pipe.partition %f {stages = 8} : (!transform.op<"func.func">) -> !transform.op<"pipe.pipeline">
    }
    %again = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.op<"func.func">
    %1 = transform.pipe.partition %again {stages = 1} : (!transform.op<"func.func">) -> !transform.op<"pipe.pipeline">
    %2 = transform.pipe.differentiate %1 : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    %3 = transform.pipe.schedule %2 {microbatches = 2} : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    %4 = transform.pipe.insert_communication %3 : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    transform.yield
  }
}
