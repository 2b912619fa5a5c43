// RUN: veeline-opt %s --pipe-separate-joint --split-input-file --verify-diagnostics -o /dev/null

// expected-error @below {{result 1 is the gradient or the new value of "u", but no argument is that parameter; parameters are w; did you mean 'w'?}}
func.func @unknown(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "u"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{result 1 is the gradient or the new value of "w", a 'tensor<1xf32>', but has the type 'tensor<f32>'}}
func.func @type(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<1xf32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "w"}) {
  %0 = tensor.collapse_shape %w [] : tensor<1xf32> into tensor<f32>
  %loss = arith.mulf %x, %0 : tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{results 1 and 2 are both about parameter "w"; one of them is enough}}
func.func @twice(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "w"}, tensor<f32> {pipe.gradient_of = "w"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss, %x, %x : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

func.func @missing(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
    // expected-error @below {{no result is the gradient of parameter "v"; return it, as {pipe.gradient_of = "v"}, or make the argument a buffer}}
    %v: tensor<f32> {pipe.param = #pipe.param<"v", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "w"}) {
  %0 = arith.mulf %x, %w : tensor<f32>
  %loss = arith.mulf %0, %v : tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

// An update by more than the gradient: with a decay of the parameter.
func.func @decay(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}) {
  %rate = arith.constant dense<0.1> : tensor<f32>
  %loss = arith.mulf %x, %w : tensor<f32>
  %decayed = arith.mulf %w, %rate : tensor<f32>
  %step = arith.mulf %rate, %x : tensor<f32>
  // expected-error @below {{result 1, the new value of "w", has to be w - c g: the parameter minus a constant times its gradient}}
  %new = arith.subf %decayed, %step : tensor<f32>
  return %loss, %new : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{parameters are updated at different rates, 0.5 and 0.25; a step has one learning rate}}
func.func @rates(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>},
                 %v: tensor<f32> {pipe.param = #pipe.param<"v", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.updated = "w"}, tensor<f32> {pipe.updated = "v"}) {
  %half = arith.constant dense<0.5> : tensor<f32>
  %quarter = arith.constant dense<-0.25> : tensor<f32>
  %0 = arith.mulf %x, %w : tensor<f32>
  %loss = arith.addf %0, %v : tensor<f32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %step = arith.mulf %half, %x : tensor<f32>
  %w1 = arith.subf %w, %step : tensor<f32>
  %other = arith.mulf %quarter, %one : tensor<f32>
  %v1 = arith.addf %other, %v : tensor<f32>
  return %loss, %w1, %v1 : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

func.func @effects(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "w"}) {
  // expected-error @below {{'func.call' may have side effects; a joint function is made of pure ops on tensors}}
  %loss = func.call @extern(%x, %w) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}
func.func private @extern(tensor<f32>, tensor<f32>) -> tensor<f32>

// -----

// expected-error @below {{'func.func' op result 1: expected a #pipe.role, or a 'pipe.metric', 'pipe.gradient_of', 'pipe.updated' or 'pipe.state_of' with a name, or 'pipe.step'; found 'pipe.gradient_of'}}
func.func @name(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = 1}) {
  return %x, %x : tensor<f32>, tensor<f32>
}

// -----

// The sign of a negated gradient would be lost: no learning rate is below 0.
func.func @negated(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<4xf32> {pipe.updated = "w"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %rate = arith.constant dense<0.5> : tensor<4xf32>
  %loss = linalg.dot ins(%w, %x : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  %n = arith.negf %x : tensor<4xf32>
  %step = arith.mulf %rate, %n : tensor<4xf32>
  // expected-error @below {{result 1, the new value of "w", has to be w - c g}}
  %new = arith.addf %w, %step : tensor<4xf32>
  return %loss, %new : tensor<f32>, tensor<4xf32>
}

// -----

// expected-error @below {{result 1 has both 'pipe.gradient_of' and 'pipe.updated'; it is the gradient or the new value, not both}}
func.func @both(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>})
    -> (tensor<f32>, tensor<f32> {pipe.gradient_of = "w", pipe.updated = "w"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

func.func @dynamic(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}, %n: tensor<index> {pipe.batch = "n"})
    -> (tensor<f32>, tensor<4xf32> {pipe.gradient_of = "w"}) {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %size = tensor.extract %n[] : tensor<index>
  // expected-error @below {{'tensor.extract_slice' computes a 'tensor<?xf32>'; a joint function is made of tensors of static shape, as it is cut by their sizes: export the model with fixed sizes}}
  %some = tensor.extract_slice %x[0] [%size] [1] : tensor<4xf32> to tensor<?xf32>
  %loss = linalg.dot ins(%some, %some : tensor<?xf32>, tensor<?xf32>) outs(%zero : tensor<f32>) -> tensor<f32>
  return %loss, %w : tensor<f32>, tensor<4xf32>
}
