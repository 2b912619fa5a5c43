// RUN: veeline-opt %s --split-input-file --verify-diagnostics --pipe-partition="stages=2"

// expected-error @below {{expected a public func.func with a body, the model; found none}}
module {
  func.func private @net(%w: tensor<f32>) -> tensor<f32> {
    return %w : tensor<f32>
  }
}

// -----

// expected-error @below {{expected one public func.func, the model; found @net, @other; choose one by --entry}}
module {
  func.func @net(%w: tensor<f32>) -> tensor<f32> {
    return %w : tensor<f32>
  }
  func.func @other(%w: tensor<f32>) -> tensor<f32> {
    return %w : tensor<f32>
  }
}

// -----

// expected-error @below {{the model has 2 blocks, expected one: no branches}}
func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  cf.br ^end
^end:
  return %w : tensor<f32>
}

// -----

// expected-error @below {{argument 0 ("x") of the model has a dynamic dimension: 'tensor<?xf32>'; say how long it may be, with --length-bound (--pipe-bind-lengths)}}
func.func @net(%x: tensor<?xf32> {pipe.batch = "x"}) -> tensor<f32> {
  %l = arith.constant dense<0.0> : tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{argument 1 ("arg1") of the model: expected a tensor of static, non-empty shape of i1, i8, i16, i32, i64, f32 or f64, found 'f32'}}
func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}, %x: f32) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @below {{argument 0 ("positions") of the model: expected a tensor of static, non-empty shape of i1, i8, i16, i32, i64, f32 or f64, found 'tensor<4xindex>'}}
func.func @net(%x: tensor<4xindex> {pipe.buffer = "positions"}) -> tensor<f32> {
  %l = arith.constant dense<0.0> : tensor<f32>
  return %l : tensor<f32>
}

// -----

// A type that no file of data has, and one whose elements are half a byte.
// expected-error @below {{argument 0 ("x") of the model: expected a tensor of static, non-empty shape of i1, i8, i16, i32, i64, f32 or f64, found 'tensor<4xi128>'}}
func.func @net(%x: tensor<4xi128> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @below {{argument 0 ("x") of the model: expected a tensor of static, non-empty shape of i1, i8, i16, i32, i64, f32 or f64, found 'tensor<4xi4>'}}
func.func @net(%x: tensor<4xi4> {pipe.buffer = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @below {{argument 0 ("x") of the model: expected a tensor of static, non-empty shape of i1, i8, i16, i32, i64, f32 or f64, found 'tensor<4xui8>'}}
func.func @net(%x: tensor<4xui8> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @below {{argument 0 ("x") of the model: expected a tensor of static, non-empty shape of i1, i8, i16, i32, i64, f32 or f64, found 'tensor<4xf16>'}}
func.func @net(%x: tensor<4xf16> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @below {{argument 0 ("x") of the model: expected a tensor of static, non-empty shape of i1, i8, i16, i32, i64, f32 or f64, found 'tensor<4x0xf32>'}}
func.func @net(%x: tensor<4x0xf32> {pipe.batch = "x"}, %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @below {{argument 0 ("w") of the model: expected a parameter, a tensor of static, non-empty shape of f32 or f64, found 'tensor<4xbf16>'}}
func.func @net(%w: tensor<4xbf16> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %l = arith.constant dense<0.0> : tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{argument 0 of the model has both 'pipe.param' and 'pipe.batch'; an input is one thing}}
func.func @net(%x: tensor<f32> {pipe.batch = "x", pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{argument 0 of the model has an empty name}}
func.func @net(%x: tensor<f32> {pipe.batch = ""}) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

func.func @net(
    // expected-note @below {{the other one is here}}
    %w: tensor<f32> {pipe.param = #pipe.param<"a", init = zeros>},
    // expected-error @below {{argument 1 of the model takes the name "a", which argument 0 has}}
    %x: tensor<f32> {pipe.batch = "a"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// A buffer without a name has one all the same.
func.func @net(
    // expected-note @below {{the other one is here}}
    %w: tensor<f32> {pipe.param = #pipe.param<"arg1", init = zeros>},
    // expected-error @below {{argument 1 of the model takes the name "arg1", which argument 0 has}}
    %x: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @below {{the model has nothing to train: no argument is a parameter}}
func.func @net(%x: tensor<f32> {pipe.batch = "x"}) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) {
  // expected-error @below {{the model's first result is the loss, a tensor<f32> or tensor<f64>; found no result}}
  return
}

// -----

func.func @net(%w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<4xf32> {
  // expected-error @below {{the model's first result is the loss, a tensor<f32> or tensor<f64>; found 'tensor<4xf32>'}}
  return %w : tensor<4xf32>
}

// -----

func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<i32> {
  %l = arith.constant dense<0> : tensor<i32>
  // expected-error @below {{the model's first result is the loss, a tensor<f32> or tensor<f64>; found 'tensor<i32>'}}
  return %l : tensor<i32>
}

// -----

func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> f32 {
  %l = tensor.extract %w[] : tensor<f32>
  // expected-error @below {{the model's first result is the loss, a tensor<f32> or tensor<f64>; found 'f32'}}
  return %l : f32
}

// -----

func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> (tensor<f32>, index) {
  %i = arith.constant 0 : index
  // expected-error @below {{result 1 of the model is a metric, a tensor<f32> or tensor<f64>; found 'index'}}
  return %w, %i : tensor<f32>, index
}

// -----

func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}, %x: tensor<4xf32> {pipe.batch = "x"}) -> (tensor<f32>, tensor<4xf32>) {
  // expected-error @below {{result 1 of the model is a metric, a tensor<f32> or tensor<f64>; found 'tensor<4xf32>'}}
  return %w, %x : tensor<f32>, tensor<4xf32>
}

// -----

func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}, %x: tensor<i32> {pipe.batch = "x"}) -> (tensor<f32>, tensor<f32>, tensor<i32>) {
  // expected-error @below {{result 2 of the model is a metric, a tensor<f32> or tensor<f64>; found 'tensor<i32>'}}
  return %w, %w, %x : tensor<f32>, tensor<f32>, tensor<i32>
}

// -----

func.func private @helper(%w: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}
func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  // expected-error @below {{'func.call' may have side effects; a model is made of pure ops on tensors (calls are inlined by --inline)}}
  %l = func.call @helper(%w) : (tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  // expected-error @below {{'arith.truncf' computes with 'tensor<f8E5M2>', and a rank computes with floats of type f64, f32, bf16 and f16; export the model in one of these, or compute in f64 by --retype}}
  %0 = arith.truncf %w : tensor<f32> to tensor<f8E5M2>
  %1 = arith.extf %0 : tensor<f8E5M2> to tensor<f32>
  return %1 : tensor<f32>
}

// -----

// Also within a body, where the gradient would get lost.
func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%w : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    // expected-error @below {{'complex.create' computes with 'complex<f32>', and a rank computes with floats of type f64, f32, bf16 and f16; export the model with real and imaginary parts as tensors of their own}}
    %c = complex.create %in, %in : complex<f32>
    %r = complex.re %c : complex<f32>
    linalg.yield %r : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// expected-error @below {{the model is referred to from elsewhere in the module, and would no longer be a function}}
func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  return %w : tensor<f32>
}
func.func private @user(%w: tensor<f32>) -> tensor<f32> {
  // expected-note @below {{referred to here}}
  %l = func.call @net(%w) : (tensor<f32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func @net(%x: tensor<f32> {pipe.batch = "x"},
               %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l = scf.for %i = %c0 to %c1 step %c1 iter_args(%s = %w) -> tensor<f32> {
    // expected-error @below {{'pipe.boundary' op is inside another op; a mark stands in the model function's own block, or in a loop that is unrolled}}
    %m = pipe.boundary %s : tensor<f32>
    scf.yield %m : tensor<f32>
  } {pipe.unroll = false}
  return %l : tensor<f32>
}

// -----

// expected-error @below {{more chunks than pieces: 2 stages of 1 chunk each, but the model has 1 piece; ask for fewer stages or chunks a stage}}
func.func @net(%x: tensor<f32> {pipe.batch = "x"},
               %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %l = arith.addf %x, %w : tensor<f32>
  return %l : tensor<f32>
}

// -----

// expected-error @below {{more chunks than pieces: 2 stages of 1 chunk each, but the model has 0 pieces: no op depends on both a parameter and a batch argument}}
func.func @net(%w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %l = arith.addf %w, %w : tensor<f32>
  return %l : tensor<f32>
}

// -----

// A scalar cannot be sent.
func.func @net(%x: tensor<f32> {pipe.batch = "x"},
               %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %h = arith.addf %x, %w : tensor<f32>
  // expected-error @below {{a value of type 'f32' would leave chunk 0; what leaves a chunk is a tensor of static shape with integer or float elements: cut elsewhere, with pipe.boundary or a list of pieces}}
  %s = tensor.extract %h[] : tensor<f32>
  %m = pipe.boundary %h : tensor<f32>
  %t = tensor.from_elements %s : tensor<f32>
  %l = arith.addf %m, %t : tensor<f32>
  return %l : tensor<f32>
}

// -----

// Dead code is no chunk.
func.func @net(%x: tensor<f32> {pipe.batch = "x"},
               %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %l = arith.addf %x, %w : tensor<f32>
  %m = pipe.boundary %l : tensor<f32>
  // expected-error @below {{chunk 1 begins here and computes nothing that a later chunk or the model's results use; remove dead code (veeline-opt --canonicalize), or make fewer chunks}}
  %unused = arith.addf %m, %w : tensor<f32>
  return %l : tensor<f32>
}

// -----

// A parameter that nothing uses.
func.func @net(%x: tensor<f32> {pipe.batch = "x"},
               %w: tensor<f32> {pipe.param = #pipe.param<"w", init = zeros>},
               // expected-warning @below {{parameter "v" is not used: it is dropped, not trained}}
               %v: tensor<f32> {pipe.param = #pipe.param<"v", init = zeros>}) -> tensor<f32> {
  %h = arith.addf %x, %w : tensor<f32>
  %m = pipe.boundary %h : tensor<f32>
  %l = arith.addf %m, %w : tensor<f32>
  return %l : tensor<f32>
}
