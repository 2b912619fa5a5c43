// RUN: veeline-opt %s --transform-interpreter --split-input-file --verify-diagnostics -o /dev/null

// Fails, unless the script goes on with something else: nothing has changed.
module attributes {transform.with_named_sequence} {
  // expected-error @below {{more chunks than pieces}}
  func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %loss = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %net = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.op<"func.func">
    %0 = transform.pipe.partition %net {stages = 8} : (!transform.op<"func.func">) -> !transform.op<"pipe.pipeline">
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %loss = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
    // expected-note @below {{this op}}
    return %loss : tensor<f32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %return = transform.structured.match ops{["func.return"]} in %module : (!transform.any_op) -> !transform.any_op
    // expected-error @below {{cuts behind ops with one result, a tensor; found 'func.return'}}
    transform.pipe.cut %return : !transform.any_op
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %loss = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %net = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.op<"func.func">
    %0 = transform.pipe.partition %net : (!transform.op<"func.func">) -> !transform.op<"pipe.pipeline">
    // expected-error @below {{'transform.pipe.differentiate' op attribute "kernels" is one of host, cuda; found 'hots'}}
    %1 = transform.pipe.differentiate %0 {kernels = "hots"} : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  // expected-error @below {{zb-h9}}
  func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %loss = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %net = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.op<"func.func">
    %0 = transform.pipe.partition %net : (!transform.op<"func.func">) -> !transform.op<"pipe.pipeline">
    %1 = transform.pipe.differentiate %0 : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    %2 = transform.pipe.schedule %1 {schedule = "zb-h9"} : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    transform.yield
  }
}

// -----

// The alternatives' functions are copies.
module attributes {transform.with_named_sequence} {
  func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
    %zero = arith.constant dense<0.0> : tensor<f32>
    %loss = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %net = transform.structured.match ops{["func.func"]} in %module : (!transform.any_op) -> !transform.op<"func.func">
    // expected-error @below {{all alternatives failed}}
    transform.alternatives %net : !transform.op<"func.func"> {
    ^bb0(%f: !transform.op<"func.func">):
      %0 = transform.pipe.partition %f {stages = 8} : (!transform.op<"func.func">) -> !transform.op<"pipe.pipeline">
    }, {
    ^bb0(%f: !transform.op<"func.func">):
      %0 = transform.pipe.partition %f {stages = 1} : (!transform.op<"func.func">) -> !transform.op<"pipe.pipeline">
    }
    transform.yield
  }
}

// -----

// A misspelt option would do nothing.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%net: !transform.op<"func.func">) {
    // expected-error @below {{'transform.pipe.partition' op has no attribute 'stage'; it has chunks_per_stage, clip_sync, forward_only, machine_cores, machine_table, pieces, placement, profile, replicas, stage_replicas, stages; did you mean 'stages'?}}
    %0 = transform.pipe.partition %net {stage = 2} : (!transform.op<"func.func">) -> !transform.op<"pipe.pipeline">
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%net: !transform.op<"pipe.pipeline">) {
    // expected-error @below {{has no attribute 'schedul'; it has microbatches, objective, offload, replicas, schedule, sequential, shard_optimizer, slip, updates_at_end; did you mean 'schedule'?}}
    %0 = transform.pipe.schedule %net {schedul = "zb-v"} : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%net: !transform.op<"pipe.pipeline">) {
    // expected-error @below {{'transform.pipe.split_backward' op has no attributes; found 'stages'}}
    %0 = transform.pipe.split_backward %net {stages = 2} : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%net: !transform.any_op) {
    // expected-error @below {{has no attributes; found 'behind'}}
    transform.pipe.cut %net {behind = "x"} : !transform.any_op
    transform.yield
  }
}

// -----

// Names with a dot are other dialects'.
module attributes {transform.with_named_sequence} {
  transform.named_sequence @unused(%net: !transform.op<"pipe.pipeline">) {
    %0 = transform.pipe.split_backward %net {other.note = "x"} : (!transform.op<"pipe.pipeline">) -> !transform.op<"pipe.pipeline">
    transform.yield
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    transform.yield
  }
}
