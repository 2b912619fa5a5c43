// RUN: veeline-opt %s --pipe-normalize-ops --split-input-file | FileCheck %s

// A sum over rows runs through memory: the contiguous dimension is innermost.

// CHECK-DAG: #[[$IJ:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$J:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @column_sum
// CHECK: linalg.generic {indexing_maps = [#[[$IJ]], #[[$J]]], iterator_types = ["reduction", "parallel"]}
func.func @column_sum(%x: tensor<4x8xf32>, %init: tensor<8xf32>) -> tensor<8xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>],
    iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<4x8xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %1 = arith.addf %sum, %a : f32
    linalg.yield %1 : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A product of matrices runs along the rows of b and c.

// CHECK-DAG: #[[$A:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[$C:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-LABEL: func.func @matmul
// CHECK: linalg.generic {indexing_maps = [#[[$A]], #[[$B]], #[[$C]]], iterator_types = ["parallel", "reduction", "parallel"]}
func.func @matmul(%a: tensor<4x5xf64>, %b: tensor<5x6xf64>, %c: tensor<4x6xf64>) -> tensor<4x6xf64> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x5xf64>, tensor<5x6xf64>) outs(%c : tensor<4x6xf64>) -> tensor<4x6xf64>
  return %0 : tensor<4x6xf64>
}

// -----

// With the second operand transposed both inputs are contiguous along the
// dimension that is summed over: it stays innermost.

// CHECK-LABEL: func.func @matmul_transposed
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
func.func @matmul_transposed(%a: tensor<4x5xf64>, %b: tensor<6x5xf64>, %c: tensor<4x6xf64>) -> tensor<4x6xf64> {
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%a, %b : tensor<4x5xf64>, tensor<6x5xf64>) outs(%c : tensor<4x6xf64>) -> tensor<4x6xf64>
  return %0 : tensor<4x6xf64>
}

// -----

// CHECK-LABEL: func.func @aggregates
// CHECK-NOT: linalg.softmax
// CHECK-NOT: tensor.concat
// CHECK-NOT: pipe.boundary
// CHECK: linalg.generic
// CHECK: arith.maxnumf
// CHECK-NOT: linalg.softmax
// CHECK: tensor.insert_slice
// CHECK: return
func.func @aggregates(%x: tensor<4x8xf32>) -> tensor<4x16xf32> {
  %empty = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = pipe.boundary %0 : tensor<4x8xf32>
  %2 = tensor.concat dim(1) %1, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x16xf32>
  return %2 : tensor<4x16xf32>
}

// -----

// Every output has a tensor of its own: %x only gives a shape, the fill has two
// users.

// CHECK-LABEL: func.func @outputs
// CHECK: %[[E0:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}} outs(%[[E0]] :
// CHECK-COUNT-2: linalg.fill
func.func @outputs(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.abs ins(%x : tensor<8xf32>) outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %empty = tensor.empty() : tensor<f32>
  %fill = linalg.fill ins(%zero : f32) outs(%empty : tensor<f32>) -> tensor<f32>
  %1 = linalg.reduce { arith.addf } ins(%x : tensor<8xf32>) outs(%fill : tensor<f32>) dimensions = [0]
  %2 = linalg.reduce { arith.addf } ins(%0 : tensor<8xf32>) outs(%fill : tensor<f32>) dimensions = [0]
  return %0, %1, %2 : tensor<8xf32>, tensor<f32>, tensor<f32>
}

// -----

// What a convolution of the library starts from is added afterwards.

// CHECK-LABEL: func.func @convolution
// CHECK:       %[[ZEROS:.*]] = linalg.fill ins(%{{.*}} : f32)
// CHECK:       %[[Y:.*]] = linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%[[ZEROS]] :
// CHECK:         arith.mulf
// CHECK:         arith.addf
// CHECK:       linalg.generic {{.*}} ins(%arg2, %[[Y]] :
// CHECK-NEXT:  ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT:    arith.addf %[[A]], %[[B]]
func.func @convolution(%x: tensor<1x4x4x2xf32>, %w: tensor<3x3x2x3xf32>, %start: tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32> {
  %0 = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<1x4x4x2xf32>, tensor<3x3x2x3xf32>) outs(%start : tensor<1x2x2x3xf32>) -> tensor<1x2x2x3xf32>
  return %0 : tensor<1x2x2x3xf32>
}
