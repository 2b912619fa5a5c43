// RUN: veeline-opt %s --pipe-weight-loss=weight=tokens --pipe-partition --split-input-file --verify-diagnostics -o /dev/null

func.func @net(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %loss = arith.mulf %x, %w : tensor<f32>
  // expected-error @below {{the model returns its loss alone, and no 'tokens' that weights it; return the number of tokens of a microbatch, a tensor<f32> or tensor<f64>, as a further result}}
  return %loss : tensor<f32>
}

// -----

func.func @net(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f32>, tensor<f32> {pipe.metric = "token"}, tensor<f32>) {
  %loss = arith.mulf %x, %w : tensor<f32>
  // expected-error @below {{the model has no result 'tokens' that weights the loss; beside the loss it returns token, metric2; did you mean 'token'?}}
  return %loss, %x, %x : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// A parameter inside of a region counts, too.
// expected-note @below {{the parameter is here}}
func.func @net(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f32>, tensor<f32> {pipe.metric = "tokens"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  %empty = tensor.empty() : tensor<f32>
  %tokens = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%x : tensor<f32>) outs(%empty : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    // expected-error @below {{'tokens' cannot weight the loss, because it depends on parameter "w" here; a weight follows from data alone, as the number of labels that count}}
    %entry = tensor.extract %w[] : tensor<f32>
    %sum = arith.addf %a, %entry : f32
    linalg.yield %sum : f32
  } -> tensor<f32>
  return %loss, %tokens : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{argument 0 of the model has the name "loss_weight", which the weight of the loss takes; rename the argument}}
func.func @net(%x: tensor<f32> {pipe.batch = "loss_weight"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f32>, tensor<f32> {pipe.metric = "tokens"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{the loss of the model has a weight, argument 0; a loss is weighted once}}
func.func @net(%x: tensor<f32> {pipe.batch = "x", pipe.loss_weight}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f32>, tensor<f32> {pipe.metric = "tokens"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

func.func @net(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f32>, tensor<f32> {pipe.metric = "tokens"}, tensor<f32> {pipe.metric = "tokens"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  // expected-error @below {{result 2 of the model has the name "tokens", which result 1 has}}
  return %loss, %x, %x : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

func.func @net(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f32>, tensor<f32> {pipe.metric = "tokens"}, tensor<f32> {pipe.metric = "a,b"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  // expected-error @below {{result 2 of the model has the name "a,b"; a name has letters, digits, '_', '-' and '.' only}}
  return %loss, %x, %x : tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

func.func @net(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f32> {pipe.metric = "cost"}, tensor<f32> {pipe.metric = "tokens"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  // expected-error @below {{the first result of the model is the loss, and has a 'pipe.metric'; only those after it are metrics}}
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

// expected-error @below {{result 1: expected a #pipe.role, or a 'pipe.metric', 'pipe.gradient_of', 'pipe.updated' or 'pipe.state_of' with a name, or 'pipe.step'; found 'pipe.metric'}}
func.func @net(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f32>, tensor<f32> {pipe.metric = 2}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  return %loss, %x : tensor<f32>, tensor<f32>
}

// -----

// A model for forwards alone may return tensors, of which none is a loss or a weight.
func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<4xf32>, tensor<f32> {pipe.metric = "tokens"}) {
  %y = arith.mulf %x, %w : tensor<4xf32>
  %tokens = arith.constant dense<4.0> : tensor<f32>
  // expected-error @below {{the model returns no loss that 'tokens' could weight: its first result is a 'tensor<4xf32>', and a loss is a tensor<f32> or tensor<f64>; return one, or leave out the weight}}
  return %y, %tokens : tensor<4xf32>, tensor<f32>
}

// -----

func.func @net(%x: tensor<f32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = ones>}) -> (tensor<f32>, tensor<1xf32> {pipe.metric = "tokens"}, tensor<f32> {pipe.metric = "labels"}) {
  %loss = arith.mulf %x, %w : tensor<f32>
  %tokens = arith.constant dense<4.0> : tensor<1xf32>
  // expected-error @below {{the model has no result 'tokens' that weights the loss; beside the loss it returns labels}}
  return %loss, %tokens, %x : tensor<f32>, tensor<1xf32>, tensor<f32>
}
