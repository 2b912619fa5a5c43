// RUN: veeline-opt %s --pipe-import-params=verbose --split-input-file --verify-diagnostics | FileCheck %s

// A row of numbers that goes before others is learned, as the token that a
// classifier reads. Equal numbers are not, and neither are several rows.
// CHECK-LABEL: func.func @concatenated(
// CHECK-SAME:    tensor<2x3x4xf32> {pipe.batch = "arg0"},
// CHECK-SAME:    tensor<4x4xf32> {pipe.param
// CHECK-SAME:    tensor<1x1x4xf32> {pipe.param = #pipe.param<"weight1", init = values(
// CHECK-NOT:     pipe.param
// CHECK-DAG:     arith.constant dense<0.000000e+00> : tensor<1x1x4xf32>
// CHECK-DAG:     arith.constant dense<{{.*}}> : tensor<1x2x4xf32>
// CHECK:         return
func.func @concatenated(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<2x3x4xf32>') is taken for data}}
    %x: tensor<2x3x4xf32>,
    // expected-remark @below {{argument 1 ("weight0", 'tensor<4x4xf32>') is taken for a weight that the file leaves out, and is drawn}}
    %w: tensor<4x4xf32> {pipe.constant = dense<0.5> : tensor<4x4xf32>},
    // expected-remark @below {{argument 2 ("weight1", 'tensor<1x1x4xf32>') is trained, and starts from its values}}
    %token: tensor<1x1x4xf32> {pipe.constant = dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>},
    %zeros: tensor<1x1x4xf32> {pipe.constant = dense<0.0> : tensor<1x1x4xf32>},
    // expected-remark @below {{argument 4 ("weight3", 'tensor<1x2x4xf32>') stays a constant}}
    %rows: tensor<1x2x4xf32> {pipe.constant = dense<[[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]]> : tensor<1x2x4xf32>})
    -> tensor<2x7x4xf32> {
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<2x3x4xf32> into tensor<6x4xf32>
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<6x4xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<6x4xf32>) -> tensor<6x4xf32>
  %p = linalg.matmul ins(%flat, %w : tensor<6x4xf32>, tensor<4x4xf32>) outs(%z0 : tensor<6x4xf32>) -> tensor<6x4xf32>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [2, 3, 4] : tensor<6x4xf32> into tensor<2x3x4xf32>
  %e1 = tensor.empty() : tensor<2x1x4xf32>
  %f1 = tensor.collapse_shape %token [[0, 1], [2]] : tensor<1x1x4xf32> into tensor<1x4xf32>
  %g1 = tensor.collapse_shape %f1 [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %b1 = linalg.broadcast ins(%g1 : tensor<4xf32>) outs(%e1 : tensor<2x1x4xf32>) dimensions = [0, 1]
  %f2 = tensor.collapse_shape %zeros [[0, 1, 2]] : tensor<1x1x4xf32> into tensor<4xf32>
  %b2 = linalg.broadcast ins(%f2 : tensor<4xf32>) outs(%e1 : tensor<2x1x4xf32>) dimensions = [0, 1]
  %e3 = tensor.empty() : tensor<2x2x4xf32>
  %f3 = tensor.collapse_shape %rows [[0, 1], [2]] : tensor<1x2x4xf32> into tensor<2x4xf32>
  %b3 = linalg.broadcast ins(%f3 : tensor<2x4xf32>) outs(%e3 : tensor<2x2x4xf32>) dimensions = [0]
  %r = tensor.concat dim(1) %b1, %y, %b2, %b3 : (tensor<2x1x4xf32>, tensor<2x3x4xf32>, tensor<2x1x4xf32>, tensor<2x2x4xf32>) -> tensor<2x7x4xf32>
  return %r : tensor<2x7x4xf32>
}

// -----

// As torch-mlir writes it, by insertion into what is empty.
// CHECK-LABEL: func.func @inserted(
// CHECK-SAME:    tensor<1x1x4xf32> {pipe.param = #pipe.param<"weight1", init = values(
func.func @inserted(
    // expected-remark @below {{argument 0 ("arg0", 'tensor<1x3x4xf32>') is taken for data}}
    %x: tensor<1x3x4xf32>,
    // expected-remark @below {{argument 1 ("weight0", 'tensor<4x4xf32>') is taken for a weight that the file leaves out, and is drawn}}
    %w: tensor<4x4xf32> {pipe.constant = dense<0.5> : tensor<4x4xf32>},
    // expected-remark @below {{argument 2 ("weight1", 'tensor<1x1x4xf32>') is trained, and starts from its values}}
    %token: tensor<1x1x4xf32> {pipe.constant = dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>})
    -> tensor<1x4x4xf32> {
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x3x4xf32> into tensor<3x4xf32>
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<3x4xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<3x4xf32>) -> tensor<3x4xf32>
  %p = linalg.matmul ins(%flat, %w : tensor<3x4xf32>, tensor<4x4xf32>) outs(%z0 : tensor<3x4xf32>) -> tensor<3x4xf32>
  %y = tensor.expand_shape %p [[0, 1], [2]] output_shape [1, 3, 4] : tensor<3x4xf32> into tensor<1x3x4xf32>
  %e = tensor.empty() : tensor<1x4x4xf32>
  %s = tensor.insert_slice %token into %e[0, 0, 0] [1, 1, 4] [1, 1, 1] : tensor<1x1x4xf32> into tensor<1x4x4xf32>
  %r = tensor.insert_slice %y into %s[0, 1, 0] [1, 3, 4] [1, 1, 1] : tensor<1x3x4xf32> into tensor<1x4x4xf32>
  return %r : tensor<1x4x4xf32>
}
