// RUN: veeline-opt %s --pipe-partition=stages=1 --split-input-file --verify-diagnostics -o /dev/null

// The joint function is of a model with another op.
// expected-error @below {{the model has changed since --pipe-separate-joint, and its joint function has not}}
func.func @changed(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>})
    -> tensor<f32> attributes {pipe.joint = @changed_joint} {
  %zero = arith.constant dense<0.0> : tensor<f32>
  // expected-note @below {{the model has this}}
  %y = arith.mulf %x, %w : tensor<4xf32>
  %m = pipe.boundary %y : tensor<4xf32>
  %loss = linalg.dot ins(%m, %m : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}
func.func private @changed_joint(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<4xf32> {pipe.gradient_of = "w"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  // expected-note @below {{the joint function has this}}
  %y = arith.addf %x, %w : tensor<4xf32>
  %loss = linalg.dot ins(%y, %y : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  return %loss, %y : tensor<f32>, tensor<4xf32>
}

// -----

// The same ops, but of other operands.
// expected-error @below {{the model has changed since --pipe-separate-joint}}
func.func @operands(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> tensor<f32> attributes {pipe.joint = @operands_joint} {
  // expected-note @below {{the model has this}}
  %loss = arith.subf %x, %w : tensor<f32>
  return %loss : tensor<f32>
}
func.func private @operands_joint(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "w"}) {
  // expected-note @below {{the joint function has this}}
  %loss = arith.subf %w, %x : tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

// In the body of an op.
// expected-error @below {{the model has changed since --pipe-separate-joint}}
func.func @body(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> tensor<f32> attributes {pipe.joint = @body_joint} {
  %e = tensor.empty() : tensor<f32>
  // expected-note @below {{the model has this}}
  %loss = linalg.map ins(%x, %w : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) (%a: f32, %b: f32, %out: f32) {
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  }
  return %loss : tensor<f32>
}
func.func private @body_joint(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "w"}) {
  %e = tensor.empty() : tensor<f32>
  // expected-note @below {{the joint function has this}}
  %loss = linalg.map ins(%x, %w : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) (%a: f32, %b: f32, %out: f32) {
    %0 = arith.subf %b, %a : f32
    linalg.yield %0 : f32
  }
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

// It has another result beside the gradient.
// expected-error @below {{the model has changed since --pipe-separate-joint}}
func.func @results(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> tensor<f32> attributes {pipe.joint = @results_joint} {
  %loss = arith.mulf %x, %w : tensor<f32>
  // expected-note @below {{the model has this}}
  return %loss : tensor<f32>
}
func.func private @results_joint(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32>, tensor<f32> {pipe.gradient_of = "w"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  // expected-note @below {{the joint function has this}}
  return %loss, %loss, %x : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

func.func @arguments(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> tensor<f32> attributes {pipe.joint = @arguments_joint} {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss : tensor<f32>
}
// expected-error @below {{result 1 is the gradient or the new value of "v", but no argument is that parameter}}
func.func private @arguments_joint(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "v"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}
