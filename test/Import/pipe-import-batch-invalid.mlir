// RUN: veeline-opt %s --pipe-import-batch=microbatch-size=3 --split-input-file --verify-diagnostics

// expected-error @below {{argument 0 has the type 'tensor<8x4xf32>': --microbatch-size needs data of one sample, of a leading dimension of 1; this file has its own size}}
// expected-note @below {{leave the option out: a microbatch is what the file takes then, which has 8 as its leading dimension; or --buffer names it, if it is the same for all samples}}
func.func @own_size(%x: tensor<8x4xf32> {pipe.batch = "x"}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{--microbatch-size: the model has no data, which would have samples}}
func.func @no_data(%x: tensor<1x4xf32> {pipe.buffer = "x"}) -> tensor<1x4xf32> {
  return %x : tensor<1x4xf32>
}

// -----

func.func @window(%x: tensor<1x4xf32> {pipe.batch = "x"}, %w: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %i = linalg.index 0 : index
    // expected-error @below {{'tensor.extract_slice' does not allow several samples in a microbatch: it uses all samples at each point}}
    // expected-note @below {{one sample per microbatch works: leave --microbatch-size out}}
    %s = tensor.extract_slice %x[0, %i] [1, 1] [1, 1] : tensor<1x4xf32> to tensor<1x1xf32>
    %c0 = arith.constant 0 : index
    %b = tensor.extract %s[%c0, %c0] : tensor<1x1xf32>
    linalg.yield %b : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @element(%x: tensor<1x4xf32> {pipe.batch = "x"}, %i: index) -> f32 {
  // expected-error @below {{'tensor.extract' does not allow several samples in a microbatch: it has no rule for samples}}
  // expected-note @below {{leave --microbatch-size out}}
  %0 = tensor.extract %x[%i, %i] : tensor<1x4xf32>
  return %0 : f32
}

// -----

func.func @carried_scalar(%x: tensor<1x4xf32> {pipe.batch = "x"}) -> tensor<1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error @below {{'scf.for' does not allow several samples in a microbatch: it carries a scalar of each sample}}
  // expected-note @below {{leave --microbatch-size out}}
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> (f32) {
    %v = tensor.extract %x[%c0, %i] : tensor<1x4xf32>
    %n = arith.addf %s, %v : f32
    scf.yield %n : f32
  }
  %0 = tensor.splat %sum : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}

// -----

func.func @endless(%x: tensor<1x4xf32> {pipe.batch = "x"}, %limit: i1) -> tensor<1x4xf32> {
  // expected-error @below {{'scf.while' does not allow several samples in a microbatch: it has no rule for samples}}
  // expected-note @below {{leave --microbatch-size out}}
  %0 = scf.while (%s = %x) : (tensor<1x4xf32>) -> tensor<1x4xf32> {
    scf.condition(%limit) %s : tensor<1x4xf32>
  } do {
  ^bb0(%s: tensor<1x4xf32>):
    scf.yield %s : tensor<1x4xf32>
  }
  return %0 : tensor<1x4xf32>
}
