// Arguments whose leading dimension does not tell what they are: their places in products do.
// RUN: veeline-opt %s --pipe-import-params=verbose --split-input-file --verify-diagnostics | FileCheck %s

// The result is a scalar, the model's own loss: what is multiplied with an
// argument from the left is data, and what is as long, targets.
// CHECK-LABEL: func.func @own_loss(
// CHECK-SAME:    tensor<4x8xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<4x3xf32> {pipe.batch = "arg1"},
// CHECK-SAME:    tensor<4xf32> {pipe.batch = "arg2"},
// CHECK-SAME:    tensor<8x3xf32> {pipe.param = #pipe.param<"arg3"
// CHECK-SAME:    tensor<3xf32> {pipe.param = #pipe.param<"arg4"
func.func @own_loss(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<4x8xf32>') is taken for data}}
    %x: tensor<4x8xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<4x3xf32>') is taken for data}}
    %t: tensor<4x3xf32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<4xf32>') is taken for data}}
    %u: tensor<4xf32>,
    // expected-remark @below {{argument 3 ("arg3", 'tensor<8x3xf32>') is taken for a parameter}}
    %w: tensor<8x3xf32>,
    // expected-remark @below {{argument 4 ("arg4", 'tensor<3xf32>') is taken for a parameter}}
    %b: tensor<3xf32>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x3xf32>
  %bias = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x3xf32>) outs(%bias : tensor<4x3xf32>) -> tensor<4x3xf32>
  %d = arith.subf %y, %t : tensor<4x3xf32>
  %q = arith.mulf %d, %d : tensor<4x3xf32>
  %re = tensor.empty() : tensor<4xf32>
  %rz = linalg.fill ins(%zero : f32) outs(%re : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.reduce { arith.addf } ins(%q : tensor<4x3xf32>) outs(%rz : tensor<4xf32>) dimensions = [1]
  %ru = arith.subf %r, %u : tensor<4xf32>
  %se = tensor.empty() : tensor<f32>
  %sz = linalg.fill ins(%zero : f32) outs(%se : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%ru : tensor<4xf32>) outs(%sz : tensor<f32>) dimensions = [0]
  return %s : tensor<f32>
}

// -----

// A weight with as many rows as there are samples is what data is multiplied with.
// CHECK-LABEL: func.func @square(
// CHECK-SAME:    tensor<4x8xf32> {pipe.param = #pipe.param<"arg0"
// CHECK-SAME:    tensor<4x4xf32> {pipe.batch = "arg1"},
// CHECK-SAME:    tensor<4x8xf32> {pipe.batch = "arg2"})
func.func @square(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<4x8xf32>') is taken for a parameter}}
    %w: tensor<4x8xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<4x4xf32>') is taken for data}}
    %x: tensor<4x4xf32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<4x8xf32>') is taken for data}}
    %r: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %tanh = math.tanh %x : tensor<4x4xf32>
  %y = linalg.matmul ins(%tanh, %w : tensor<4x4xf32>, tensor<4x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = arith.addf %y, %r : tensor<4x8xf32>
  return %s : tensor<4x8xf32>
}

// -----

// Keys that each sample has of its own are no weights.
// CHECK-LABEL: func.func @keys(
// CHECK-SAME:    tensor<4x2x3xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<4x3x5xf32> {pipe.batch = "arg1"},
// CHECK-SAME:    tensor<5xf32> {pipe.param = #pipe.param<"arg2"
func.func @keys(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<4x2x3xf32>') is taken for data}}
    %q: tensor<4x2x3xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<4x3x5xf32>') is taken for data}}
    %k: tensor<4x3x5xf32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<5xf32>') is taken for a parameter}}
    %b: tensor<5xf32>) -> tensor<4x2x5xf32> {
  %e = tensor.empty() : tensor<4x2x5xf32>
  %bias = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e : tensor<4x2x5xf32>) dimensions = [0, 1]
  %y = linalg.batch_matmul ins(%q, %k : tensor<4x2x3xf32>, tensor<4x3x5xf32>) outs(%bias : tensor<4x2x5xf32>) -> tensor<4x2x5xf32>
  return %y : tensor<4x2x5xf32>
}

// -----

// Rows are looked up by data of integers, which says how many samples there are.
// CHECK-LABEL: func.func @tokens(
// CHECK-SAME:    tensor<11x3xf32> {pipe.param = #pipe.param<"arg0"
// CHECK-SAME:    tensor<4xi32> {pipe.batch = "arg1"},
// CHECK-SAME:    tensor<4x3xf32> {pipe.batch = "arg2"})
func.func @tokens(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<11x3xf32>') is taken for a parameter}}
    %table: tensor<11x3xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<4xi32>') is taken for data}}
    %rows: tensor<4xi32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<4x3xf32>') is taken for data}}
    %t: tensor<4x3xf32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<4xi32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%row: i32, %out: f32):
    %i = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %table[%i, %j] : tensor<11x3xf32>
    linalg.yield %v : f32
  } -> tensor<4x3xf32>
  %d = arith.subf %x, %t : tensor<4x3xf32>
  %start = arith.constant dense<0.0> : tensor<f32>
  %s = linalg.reduce { arith.addf } ins(%d : tensor<4x3xf32>) outs(%start : tensor<f32>) dimensions = [0, 1]
  return %s : tensor<f32>
}

// -----

// Time before samples: a loop multiplies each step with weights.
// CHECK-LABEL: func.func @time_major(
// CHECK-SAME:    tensor<5x3x4xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<4x4xf32> {pipe.param = #pipe.param<"arg1"
func.func @time_major(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<5x3x4xf32>') is taken for data}}
    %x: tensor<5x3x4xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<4x4xf32>') is taken for a parameter}}
    %w: tensor<4x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<3x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %h = scf.for %t = %c0 to %c5 step %c1 iter_args(%s = %zero) -> (tensor<3x4xf32>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 3, 4] [1, 1, 1] : tensor<5x3x4xf32> to tensor<3x4xf32>
    %y = linalg.matmul ins(%xt, %w : tensor<3x4xf32>, tensor<4x4xf32>) outs(%s : tensor<3x4xf32>) -> tensor<3x4xf32>
    scf.yield %y : tensor<3x4xf32>
  }
  return %h : tensor<3x4xf32>
}

// -----

// expected-warning @below {{all arguments are taken for parameters, and the model has no data; --params names those that are}}
func.func @no_data(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<5x4xf32>') is taken for a parameter}}
    %x: tensor<5x4xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<4x4xf32>') is taken for a parameter}}
    %w: tensor<4x4xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<5x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<5x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<5x4xf32>) -> tensor<5x4xf32>
  %last = tensor.extract_slice %y[4, 0] [1, 4] [1, 1] : tensor<5x4xf32> to tensor<1x4xf32>
  return %last : tensor<1x4xf32>
}

// -----

// What is broadcast by an op of its own is still a scale, which starts from
// ones. What a root is taken of is 1, and not trained.
// CHECK-LABEL: func.func @scale_and_variance(
// CHECK-SAME:    tensor<4x6xf32> {pipe.param = #pipe.param<"arg0", init = normal
// CHECK-SAME:    tensor<6xf32> {pipe.param = #pipe.param<"arg1", init = ones>}
// CHECK-SAME:    tensor<3x4xf32> {pipe.batch = "arg3"})
// CHECK:         arith.constant dense<1.000000e+00> : tensor<6xf32>
func.func @scale_and_variance(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<4x6xf32>') is taken for a parameter}}
    %w: tensor<4x6xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<6xf32>') is taken for a parameter}}
    %g: tensor<6xf32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<6xf32>') is taken for a running variance, which stays 1; --params names what is to be trained}}
    %v: tensor<6xf32>,
    // expected-remark @below {{argument 3 ("arg3", 'tensor<3x4xf32>') is taken for data}}
    %x: tensor<3x4xf32>) -> tensor<3x6xf32> {
  %zeros = arith.constant dense<0.0> : tensor<3x6xf32>
  %small = arith.constant dense<0.001> : tensor<6xf32>
  %e = tensor.empty() : tensor<3x6xf32>
  %y = linalg.matmul ins(%x, %w : tensor<3x4xf32>, tensor<4x6xf32>) outs(%zeros : tensor<3x6xf32>) -> tensor<3x6xf32>
  %sum = arith.addf %v, %small : tensor<6xf32>
  %root = math.rsqrt %sum : tensor<6xf32>
  %rb = linalg.broadcast ins(%root : tensor<6xf32>) outs(%e : tensor<3x6xf32>) dimensions = [0]
  %gb = linalg.broadcast ins(%g : tensor<6xf32>) outs(%e : tensor<3x6xf32>) dimensions = [0]
  %n = arith.mulf %y, %rb : tensor<3x6xf32>
  %o = arith.mulf %n, %gb : tensor<3x6xf32>
  return %o : tensor<3x6xf32>
}

// -----

// A table with as many rows as there are samples, in which numbers that are
// read look rows up, is a weight; data that is mirrored is none.
// CHECK-LABEL: func.func @two_types(
// CHECK-SAME:    tensor<2x3xf32> {pipe.param = #pipe.param<"arg0", init = normal(0.000000e+00, 2.000000e-02)>},
// CHECK-SAME:    tensor<2xi32> {pipe.batch = "arg1"},
// CHECK-SAME:    tensor<2x3xf32> {pipe.batch = "arg2"})
func.func @two_types(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<2x3xf32>') is taken for a parameter}}
    %table: tensor<2x3xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<2xi32>') is taken for data}}
    %types: tensor<2xi32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<2x3xf32>') is taken for data}}
    %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%types : tensor<2xi32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%type: i32, %out: f32):
    %c2 = arith.constant 2 : index
    %t = arith.index_cast %type : i32 to index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %m = arith.subi %c2, %j : index
    %v = tensor.extract %table[%t, %j] : tensor<2x3xf32>
    %mirrored = tensor.extract %x[%i, %m] : tensor<2x3xf32>
    %s = arith.addf %v, %mirrored : f32
    linalg.yield %s : f32
  } -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// A vector as long as there are samples is data where it has one number for
// each of them, as the time of diffusion, and a bias where all have it.
// CHECK-LABEL: func.func @time(
// CHECK-SAME:    tensor<4x4xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<4xf32> {pipe.batch = "arg1"},
// CHECK-SAME:    tensor<4xf32> {pipe.param = #pipe.param<"arg2", init = zeros>})
func.func @time(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<4x4xf32>') is taken for data}}
    %x: tensor<4x4xf32>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<4xf32>') is taken for data}}
    %t: tensor<4xf32>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<4xf32>') is taken for a parameter}}
    %b: tensor<4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x, %t, %b : tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: f32, %time: f32, %bias: f32, %out: f32):
    %p = arith.mulf %in, %time : f32
    %s = arith.addf %p, %bias : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
