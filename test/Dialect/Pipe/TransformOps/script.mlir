// RUN: veeline-opt %s --transform-interpreter | FileCheck %s
// RUN: veeline-opt %s --transform-interpreter | veeline-opt | FileCheck %s

// A script cuts @by_hand behind its tanh, and has it run by zb-h1 on two ranks;
// @by_cost is cut by cost, and its three ranks have other options.

// CHECK-LABEL: func.func private @by_hand_chunk0(
// CHECK:         math.tanh
// CHECK-NEXT:    return
// CHECK-LABEL: func.func private @by_hand_chunk1_backward_input
// CHECK-LABEL: pipe.pipeline @by_hand stages(2)
// CHECK-SAME:    microbatches(4)
// CHECK:         pipe.chunk 0 @by_hand_chunk0
// CHECK:         pipe.chunk 1 @by_hand_chunk1
// CHECK-LABEL: pipe.program @by_hand_rank0 of @by_hand stage(0)
// CHECK:         pipe.send
// CHECK:         pipe.backward_weight
// CHECK-LABEL: pipe.program @by_hand_rank1 of @by_hand stage(1)
// CHECK-LABEL: pipe.pipeline @by_cost stages(3)
// CHECK-SAME:    microbatches(6)
// CHECK-LABEL: pipe.program @by_cost_rank0 of @by_cost stage(0)
// CHECK-NOT:     pipe.recv
// CHECK:         pipe.edge_value
// CHECK-LABEL: pipe.program @by_cost_rank2 of @by_cost stage(2)
// CHECK-NOT:   pipe.program

module attributes {transform.with_named_sequence} {
  func.func @by_hand(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>},
                     %v: tensor<4xf32> {pipe.param = #pipe.param<"v", init = ones>}) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %0 = arith.mulf %x, %w : tensor<4xf32>
    %1 = math.tanh %0 : tensor<4xf32>
    %2 = arith.mulf %1, %v : tensor<4xf32>
    %loss = linalg.dot ins(%2, %2 : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }

  func.func @by_cost(%x: tensor<4xf32> {pipe.batch = "x"}, %u: tensor<4xf32> {pipe.param = #pipe.param<"u", init = ones>}) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %0 = arith.mulf %x, %u : tensor<4xf32>
    %1 = math.tanh %0 : tensor<4xf32>
    %2 = math.exp %1 : tensor<4xf32>
    %loss = linalg.dot ins(%2, %2 : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }

  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %hand = transform.structured.match ops{["func.func"]} attributes {sym_name = "by_hand"} in %module : (!transform.any_op) -> !transform.op<"func.func">
    %tanh = transform.structured.match ops{["math.tanh"]} in %hand : (!transform.op<"func.func">) -> !transform.any_op
    transform.pipe.cut %tanh : !transform.any_op
    %0 = transform.pipe.partition %hand {stages = 2} : (!transform.op<"func.func">) -> !transform.op<"pipe.pipeline">
    %1 = transform.pipe.differentiate %0 {recompute = ["none"]} : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    %2 = transform.pipe.split_backward %1 : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    %3 = transform.pipe.schedule %2 {schedule = "zb-h1", microbatches = 4} : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    %4 = transform.pipe.insert_communication %3 {strategy = "p2p", model = "nccl"} : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">

    %cost = transform.structured.match ops{["func.func"]} attributes {sym_name = "by_cost"} in %module : (!transform.any_op) -> !transform.op<"func.func">
    %5 = transform.pipe.partition %cost {stages = 3} : (!transform.op<"func.func">) -> !transform.op<"pipe.pipeline">
    %6 = transform.pipe.differentiate %5 : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    %7 = transform.pipe.split_backward %6 : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    %8 = transform.pipe.schedule %7 {schedule = "gpipe", microbatches = 6} : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    transform.yield
  }
}
