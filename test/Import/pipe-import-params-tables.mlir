// Constants that are no weights, though values are multiplied with them.
// RUN: veeline-opt %s --pipe-import-params=verbose --split-input-file --verify-diagnostics=only-expected | FileCheck %s
// RUN: veeline-opt %s --pipe-import-params="params=weight0" --split-input-file 2>/dev/null | FileCheck %s --check-prefix=CHOSEN

// The frequencies of a rotary embedding: positions are multiplied with them,
// which depend on neither data nor anything learned.
// CHECK-LABEL: func.func @positions(
// CHECK-SAME:    tensor<2x3x4xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<3x4xf32> {pipe.param = #pipe.param<"weight1"
// CHECK-SAME:    }) ->
// CHECK:         arith.constant dense<[1.000000e+00, 5.000000e-01, 2.500000e-01, 1.250000e-01]>
// CHOSEN-LABEL: func.func @positions(
// CHOSEN-SAME:    tensor<4xf32> {pipe.param = #pipe.param<"weight0", init = values(
func.func @positions(%x: tensor<2x3x4xf32>,
    // expected-remark @below {{argument 1 ("weight0", 'tensor<4xf32>') stays a constant, since it is used as no weight is; --params names what is to be trained}}
    %f: tensor<4xf32> {pipe.constant = dense<[1.0, 0.5, 0.25, 0.125]> : tensor<4xf32>},
    // expected-remark @below {{argument 2 ("weight1", 'tensor<3x4xf32>') is trained, and starts from its values; --freeze names what is not}}
    %s: tensor<3x4xf32> {pipe.constant = dense<[[1.0, 2.0, 0.5, 0.5], [1.0, 0.0, 0.0, 0.0], [0.25, 1.0, 0.0, 0.0]]> : tensor<3x4xf32>}) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<3x4xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %v = arith.sitofp %n : i32 to f32
    linalg.yield %v : f32
  } -> tensor<3x4xf32>
  %fb = linalg.broadcast ins(%f : tensor<4xf32>) outs(%e : tensor<3x4xf32>) dimensions = [0]
  %a = arith.mulf %p, %fb : tensor<3x4xf32>
  %w = math.exp %a : tensor<3x4xf32>
  %d = tensor.empty() : tensor<2x3x4xf32>
  %wb = linalg.broadcast ins(%w : tensor<3x4xf32>) outs(%d : tensor<2x3x4xf32>) dimensions = [0]
  %sb = linalg.broadcast ins(%s : tensor<3x4xf32>) outs(%d : tensor<2x3x4xf32>) dimensions = [0]
  %y = arith.mulf %x, %wb : tensor<2x3x4xf32>
  %r = arith.mulf %y, %sb : tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
}

// -----

// The frequencies of time, which is data: only sines and cosines are taken of
// the products. One that more is done with is a weight.
// CHECK-LABEL: func.func @time(
// CHECK-SAME:    tensor<6xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<4xf32> {pipe.param = #pipe.param<"weight1"
// CHECK-SAME:    }) ->
// CHECK:         arith.constant dense<[1.000000e+00, 1.000000e-01, 0.00999999977, 1.000000e-03]>
func.func @time(%t: tensor<6xf32>,
    // expected-remark @below {{argument 1 ("weight0", 'tensor<4xf32>') stays a constant}}
    %f: tensor<4xf32> {pipe.constant = dense<[1.0, 0.1, 0.01, 0.001]> : tensor<4xf32>},
    // expected-remark @below {{argument 2 ("weight1", 'tensor<4xf32>') is trained, and starts from its values}}
    %w: tensor<4xf32> {pipe.constant = dense<[1.0, 0.1, 0.01, 0.002]> : tensor<4xf32>}) -> tensor<6x12xf32> {
  %e = tensor.empty() : tensor<6x4xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%t, %f : tensor<6xf32>, tensor<4xf32>) outs(%e : tensor<6x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<6x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%t, %w : tensor<6xf32>, tensor<4xf32>) outs(%e : tensor<6x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    linalg.yield %p : f32
  } -> tensor<6x4xf32>
  %sin = math.sin %a : tensor<6x4xf32>
  %cos = linalg.map { math.cos } ins(%a : tensor<6x4xf32>) outs(%e : tensor<6x4xf32>)
  %tanh = math.tanh %b : tensor<6x4xf32>
  %r = tensor.concat dim(1) %sin, %cos, %tanh : (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}

// -----

// Two factors of low rank meet each other before data does: both are learned.
// CHECK-LABEL: func.func @low_rank(
// CHECK-SAME:    tensor<4x2xf32> {pipe.param = #pipe.param<"weight0"
// CHECK-SAME:    tensor<2x3xf32> {pipe.param = #pipe.param<"weight1"
func.func @low_rank(%x: tensor<5x4xf32>,
    %a: tensor<4x2xf32> {pipe.constant = dense<0.5> : tensor<4x2xf32>},
    %b: tensor<2x3xf32> {pipe.constant = dense<0.25> : tensor<2x3xf32>}) -> tensor<5x3xf32> {
  %z = arith.constant dense<0.0> : tensor<4x3xf32>
  %w = linalg.matmul ins(%a, %b : tensor<4x2xf32>, tensor<2x3xf32>) outs(%z : tensor<4x3xf32>) -> tensor<4x3xf32>
  %zy = arith.constant dense<0.0> : tensor<5x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<5x4xf32>, tensor<4x3xf32>) outs(%zy : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}

// -----

// A constant that weights, which are arguments, are multiplied with is learned.
// CHECK-LABEL: func.func @scaled_weight(
// CHECK-SAME:    tensor<5x4xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<4x3xf32> {pipe.param = #pipe.param<"arg1"
// CHECK-SAME:    tensor<3xf32> {pipe.param = #pipe.param<"weight0"
func.func @scaled_weight(%x: tensor<5x4xf32>, %w: tensor<4x3xf32>,
    %s: tensor<3xf32> {pipe.constant = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>}) -> tensor<5x3xf32> {
  %e = tensor.empty() : tensor<4x3xf32>
  %sb = linalg.broadcast ins(%s : tensor<3xf32>) outs(%e : tensor<4x3xf32>) dimensions = [0]
  %ws = arith.mulf %w, %sb : tensor<4x3xf32>
  %zy = arith.constant dense<0.0> : tensor<5x3xf32>
  %y = linalg.matmul ins(%x, %ws : tensor<5x4xf32>, tensor<4x3xf32>) outs(%zy : tensor<5x3xf32>) -> tensor<5x3xf32>
  return %y : tensor<5x3xf32>
}
