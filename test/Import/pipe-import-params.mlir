// RUN: veeline-opt %s --pipe-import-params=verbose --split-input-file --verify-diagnostics | FileCheck %s

// A splat that goes into a product is drawn, a bias keeps its value, and what
// is as large as what it is added to, or compared with, is a constant.
// CHECK-LABEL: func.func @constants(
// CHECK-SAME:    tensor<2x4xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<4x3xf32> {pipe.param = #pipe.param<"weight0", init = normal(0.000000e+00, 5.000000e-01)>},
// CHECK-SAME:    tensor<3xf32> {pipe.param = #pipe.param<"weight1", init = constant(2.500000e-01)>}) ->
// CHECK:         arith.constant dense<0.000000e+00> : tensor<2x3xf32>
func.func @constants(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<2x4xf32>') is taken for data}}
    %x: tensor<2x4xf32>,
    // expected-remark @below {{argument 1 ("weight0", 'tensor<4x3xf32>') is taken for a weight that the file leaves out, and is drawn}}
    %w: tensor<4x3xf32> {pipe.constant = dense<1.5> : tensor<4x3xf32>},
    // expected-remark @below {{argument 2 ("weight1", 'tensor<3xf32>') is trained, and starts from the one number that it is everywhere}}
    %b: tensor<3xf32> {pipe.constant = dense<0.25> : tensor<3xf32>},
    %zero: tensor<2x3xf32> {pipe.constant = dense<0.0> : tensor<2x3xf32>}) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %bias = linalg.broadcast ins(%b : tensor<3xf32>) outs(%e : tensor<2x3xf32>) dimensions = [0]
  %p = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x3xf32>) outs(%zero : tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = linalg.add ins(%p, %bias : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

// Without constants, what does not begin with the dimension of the batch is a
// parameter. A vector of all weights is split.
// CHECK-LABEL: func.func @flat(
// CHECK-SAME:    tensor<2x3xf32> {pipe.batch = "x", tf_saved_model.index_path = ["x"]},
// CHECK-SAME:    tensor<6xf32> {pipe.param = #pipe.param<"all[0:6]", init = normal(0.000000e+00, {{0.57[0-9]*}})>},
// CHECK-SAME:    tensor<2xf32> {pipe.param = #pipe.param<"all[6:8]", init = zeros>})
// CHECK-NOT:     tensor.extract_slice
func.func @flat(
    // expected-remark @below {{argument 0 ("all", 'tensor<8xf32>') is sliced into 2 weights, which become parameters of their own}}
    %all: tensor<8xf32> {jax.arg_info = "all"},
    // expected-remark @below {{argument 1 ("x", 'tensor<2x3xf32>') is taken for data}}
    %x: tensor<2x3xf32> {tf_saved_model.index_path = ["x"]}) -> tensor<2x2xf32> {
  // expected-remark @below {{slice ("all[6:8]", 'tensor<2xf32>') is taken for a parameter}}
  %b = tensor.extract_slice %all[6] [2] [1] : tensor<8xf32> to tensor<2xf32>
  // expected-remark @below {{slice ("all[0:6]", 'tensor<6xf32>') is taken for a parameter}}
  %flat = tensor.extract_slice %all[0] [6] [1] : tensor<8xf32> to tensor<6xf32>
  %w = tensor.expand_shape %flat [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %p = linalg.matmul ins(%x, %w : tensor<2x3xf32>, tensor<3x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p, %b : tensor<2x2xf32>, tensor<2xf32>) outs(%e : tensor<2x2xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %s = arith.addf %in, %bias : f32
    linalg.yield %s : f32
  } -> tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}

// -----

// Optimisers and files of data know f32; the model computes with what it had.
// CHECK-LABEL: func.func @small(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x4xf32> {pipe.batch = "arg0"}, %[[W:[a-z0-9]+]]: tensor<4xf32> {pipe.param = #pipe.param<"arg1", init = ones>})
// CHECK-DAG:     arith.truncf %[[X]] : tensor<2x4xf32> to tensor<2x4xbf16>
// CHECK-DAG:     arith.truncf %[[W]] : tensor<4xf32> to tensor<4xbf16>
func.func @small(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<2x4xbf16>') is taken for data}}
    %x: tensor<2x4xbf16>,
    // expected-remark @below {{argument 1 ("arg1", 'tensor<4xbf16>') is taken for a parameter}}
    %w: tensor<4xbf16>,
    // expected-remark @below {{argument 2 ("arg2", 'tensor<1xf32>') is not used}}
    %unused: tensor<1xf32>) -> tensor<2x4xbf16> {
  %e = tensor.empty() : tensor<2x4xbf16>
  %b = linalg.broadcast ins(%w : tensor<4xbf16>) outs(%e : tensor<2x4xbf16>) dimensions = [0]
  %y = linalg.mul ins(%x, %b : tensor<2x4xbf16>, tensor<2x4xbf16>) outs(%e : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %y : tensor<2x4xbf16>
}

// -----

// Values of their own are kept; elements that the file leaves out are drawn.
// CHECK-LABEL: func.func @values(
// CHECK-SAME:    tensor<2x2xf32> {pipe.param = #pipe.param<"weight0", init = values(dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>)>},
// CHECK-SAME:    tensor<2x2xf32> {pipe.param = #pipe.param<"weight1", init = values(dense_resource<half> : tensor<2x2xbf16>)>},
// CHECK-SAME:    tensor<2x2xf32> {pipe.param = #pipe.param<"weight2", init = normal({{.*}})>}
func.func @values(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<4x2xf32>') is taken for data}}
    %x: tensor<4x2xf32>,
    // expected-remark @below {{argument 1 ("weight0", 'tensor<2x2xf32>') is trained, and starts from its values; --freeze names what is not}}
    %w: tensor<2x2xf32> {pipe.constant = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>},
    // expected-remark @below {{argument 2 ("weight1", 'tensor<2x2xbf16>') is trained, and starts from its values; --freeze names what is not}}
    %half: tensor<2x2xbf16> {pipe.constant = dense_resource<half> : tensor<2x2xbf16>},
    // expected-remark @below {{argument 3 ("weight2", 'tensor<2x2xf32>') is taken for a weight that the file leaves out, and is drawn}}
    %elided: tensor<2x2xf32> {pipe.constant = dense_resource<__elided__> : tensor<2x2xf32>}) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  %wide = arith.extf %half : tensor<2x2xbf16> to tensor<2x2xf32>
  %q = linalg.matmul ins(%p, %wide : tensor<4x2xf32>, tensor<2x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  %r = linalg.matmul ins(%q, %elided : tensor<4x2xf32>, tensor<2x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      half: "0x08000000803F004040404080"
    }
  }
#-}

// -----

// A mask of infinities is no bias, a table of rows starts small.
// CHECK-LABEL: func.func @table(
// CHECK-SAME:    tensor<5x3xf32> {pipe.param = #pipe.param<"weight0", init = normal(0.000000e+00, 2.000000e-02)>})
// CHECK:         arith.constant dense<0xFF800000> : tensor<3xf32>
func.func @table(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<2xi32>') is taken for data}}
    %rows: tensor<2xi32>,
    // expected-remark @below {{argument 1 ("weight0", 'tensor<5x3xf32>') is taken for a weight that the file leaves out, and is drawn}}
    %table: tensor<5x3xf32> {pipe.constant = dense<1.0> : tensor<5x3xf32>},
    // expected-remark @below {{argument 2 ("weight1", 'tensor<3xf32>') is taken for a mask, and stays what it is}}
    %mask: tensor<3xf32> {pipe.constant = dense<0xFF800000> : tensor<3xf32>}) -> tensor<2x3xf32> {
  %e = tensor.empty() : tensor<2x3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%rows, %mask : tensor<2xi32>, tensor<3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%row: i32, %m: f32, %out: f32):
    %i = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %x = tensor.extract %table[%i, %j] : tensor<5x3xf32>
    %y = arith.addf %x, %m : f32
    linalg.yield %y : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

// A constant that is used as no weight is: as large as what it is multiplied
// with. That is said of what is no splat.
// CHECK-LABEL: func.func @stays(
// CHECK-SAME:    tensor<3xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<3x3xf32> {pipe.param = #pipe.param<"weight0",
// CHECK-NOT:     pipe.param
// CHECK:         arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
func.func @stays(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<3xf32>') is taken for data}}
    %x: tensor<3xf32>,
    // expected-remark @below {{argument 1 ("weight0", 'tensor<3x3xf32>') is taken for a weight that the file leaves out, and is drawn}}
    %w: tensor<3x3xf32> {pipe.constant = dense<1.5> : tensor<3x3xf32>},
    // expected-remark @below {{argument 2 ("weight1", 'tensor<3xf32>') stays a constant, since it is used as no weight is; --params names what is to be trained}}
    %b: tensor<3xf32> {pipe.constant = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>},
    %c: tensor<3xf32> {pipe.constant = dense<0.5> : tensor<3xf32>}) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %p = linalg.vecmat ins(%x, %w : tensor<3xf32>, tensor<3x3xf32>) outs(%z : tensor<3xf32>) -> tensor<3xf32>
  %y = linalg.mul ins(%p, %b : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %r = linalg.add ins(%y, %c : tensor<3xf32>, tensor<3xf32>) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}

// -----

// A table that values are only multiplied with, of sines and cosines, is no
// weight; a scale of larger numbers is one.
// CHECK-LABEL: func.func @rotary(
// CHECK-SAME:    tensor<2x3x4xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<3x4xf32> {pipe.param = #pipe.param<"weight1", init = values(dense<{{.*}}2.000000e+00
// CHECK-SAME:    ) ->
// CHECK:         arith.constant dense<{{\[\[}}1.000000e+00, -1.000000e+00
func.func @rotary(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<2x3x4xf32>') is taken for data}}
    %x: tensor<2x3x4xf32>,
    // expected-remark @below {{argument 1 ("weight0", 'tensor<3x4xf32>') stays a constant, since it is used as no weight is; --params names what is to be trained}}
    %table: tensor<3x4xf32> {pipe.constant = dense<[[1.0, -1.0, 0.5, 0.5], [1.0, 0.0, 0.0, 0.0], [0.25, 1.0, 0.0, 0.0]]> : tensor<3x4xf32>},
    // expected-remark @below {{argument 2 ("weight1", 'tensor<3x4xf32>') is trained, and starts from its values; --freeze names what is not}}
    %scale: tensor<3x4xf32> {pipe.constant = dense<[[1.0, 2.0, 0.5, 0.5], [1.0, 0.0, 0.0, 0.0], [0.25, 1.0, 0.0, 0.0]]> : tensor<3x4xf32>}) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %table, %scale : tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<2x3x4xf32>) {
  ^bb0(%a: f32, %t: f32, %s: f32, %o: f32):
    %p = arith.mulf %a, %t : f32
    %q = arith.mulf %p, %s : f32
    linalg.yield %q : f32
  } -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}
