// RUN: veeline-opt %s --pipe-import-batch=microbatch-size=3 --split-input-file --verify-diagnostics

// expected-error @below {{argument 0 has the type 'tensor<8x4xf32>': option 'microbatch-size' needs data of one sample, of a leading dimension of 1; this file has its own size}}
func.func @own_size(%x: tensor<8x4xf32> {pipe.batch = "x"}) -> tensor<8x4xf32> {
  return %x : tensor<8x4xf32>
}

// -----

// expected-error @below {{option 'microbatch-size': the model has no data, which would have samples}}
func.func @no_data(%x: tensor<1x4xf32> {pipe.buffer = "x"}) -> tensor<1x4xf32> {
  return %x : tensor<1x4xf32>
}

// -----

func.func @reduced(%x: tensor<1x4xf32> {pipe.batch = "x"}) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  // expected-error @below {{'linalg.reduce' does not allow several samples in a microbatch: it reduces the dimension of samples}}
  // expected-note @below {{one sample per microbatch works: leave the option 'microbatch-size' out}}
  %0 = linalg.reduce {arith.addf} ins(%x : tensor<1x4xf32>) outs(%e : tensor<4xf32>) dimensions = [0]
  return %0 : tensor<4xf32>
}

// -----

func.func @gram(%x: tensor<1x4xf32> {pipe.batch = "x"}, %z: tensor<1x1xf32>) -> tensor<1x1xf32> {
  // expected-error @below {{'linalg.matmul' does not allow several samples in a microbatch: two of its loops run over samples}}
  // expected-note @below {{leave the option 'microbatch-size' out}}
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %x : tensor<1x4xf32>, tensor<1x4xf32>) outs(%z : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// -----

func.func @scalar(%x: tensor<1xf32> {pipe.batch = "x"}) -> tensor<f32> {
  // expected-error @below {{'tensor.collapse_shape' does not allow several samples in a microbatch: its result has no dimension for samples}}
  // expected-note @below {{leave the option 'microbatch-size' out}}
  %0 = tensor.collapse_shape %x [] : tensor<1xf32> into tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @padded(%x: tensor<1x4xf32> {pipe.batch = "x"}) -> tensor<2x4xf32> {
  %zero = arith.constant 0.0 : f32
  // expected-error @below {{'tensor.pad' does not allow several samples in a microbatch: it pads the dimension of samples}}
  // expected-note @below {{leave the option 'microbatch-size' out}}
  %0 = tensor.pad %x low[0, 0] high[1, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<1x4xf32> to tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @element(%x: tensor<1x4xf32> {pipe.batch = "x"}, %i: index) -> f32 {
  // expected-error @below {{'tensor.extract' does not allow several samples in a microbatch: it has no rule for samples}}
  // expected-note @below {{leave the option 'microbatch-size' out}}
  %0 = tensor.extract %x[%i, %i] : tensor<1x4xf32>
  return %0 : f32
}
