// What is transposed for a product is read where it lies, also where its dimensions are split on the way, as they are around products of a
// batch of one; so the backward of it transposes nothing either.

// RUN: veeline-opt %s --pipe-partition=stages=1 --pipe-differentiate --split-input-file | FileCheck %s

// CHECK-DAG: #[[$X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[$W:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>
// CHECK-LABEL: func.func private @net_chunk0_forward(
// CHECK-SAME:    %[[X:[^ :]*]]: tensor<1x2x6xf32>
// CHECK-SAME:    %[[W:[^ :]*]]: tensor<4x6xf32>
// CHECK:         %[[SPLIT:.*]] = tensor.expand_shape %[[W]] {{\[}}[0], [1, 2]] output_shape [4, 1, 6] : tensor<4x6xf32> into tensor<4x1x6xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.{{.*}} ins(%[[X]], %[[SPLIT]] :
// CHECK-LABEL: func.func private @net_chunk0_backward
// CHECK-NOT:     linalg.transpose
func.func @net(%x: tensor<1x2x6xf32> {pipe.batch = "x"}, %w: tensor<4x6xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x6xf32>) outs(%e : tensor<6x4xf32>) permutation = [1, 0]
  %b = tensor.expand_shape %t [[0, 1], [2]] output_shape [1, 6, 4] : tensor<6x4xf32> into tensor<1x6x4xf32>
  %ye = tensor.empty() : tensor<1x2x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ye : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %y = linalg.batch_matmul ins(%x, %b : tensor<1x2x6xf32>, tensor<1x6x4xf32>) outs(%start : tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %le = tensor.empty() : tensor<f32>
  %l0 = linalg.fill ins(%zero : f32) outs(%le : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<1x2x4xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1, 2]
  return %loss : tensor<f32>
}

// -----

// A dimension that is split into a batch and another.

// CHECK-DAG: #[[$B:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>
// CHECK-LABEL: func.func private @batch_chunk0_forward(
// CHECK-SAME:    %[[W:[^ :]*]]: tensor<4x18xf32>
// CHECK:         %[[SPLIT:.*]] = tensor.expand_shape %[[W]] {{\[}}[0], [1, 2]] output_shape [4, 3, 6] : tensor<4x18xf32> into tensor<4x3x6xf32>
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #[[$B]], #{{.*}}]{{.*}} ins(%{{.*}}, %[[SPLIT]] :
func.func @batch(%x: tensor<3x2x6xf32> {pipe.batch = "x"}, %w: tensor<4x18xf32> {pipe.param = #pipe.param<"w", init = ones>}) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<18x4xf32>
  %t = linalg.transpose ins(%w : tensor<4x18xf32>) outs(%e : tensor<18x4xf32>) permutation = [1, 0]
  %b = tensor.expand_shape %t [[0, 1], [2]] output_shape [3, 6, 4] : tensor<18x4xf32> into tensor<3x6x4xf32>
  %ye = tensor.empty() : tensor<3x2x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%ye : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %y = linalg.batch_matmul ins(%x, %b : tensor<3x2x6xf32>, tensor<3x6x4xf32>) outs(%start : tensor<3x2x4xf32>) -> tensor<3x2x4xf32>
  %le = tensor.empty() : tensor<f32>
  %l0 = linalg.fill ins(%zero : f32) outs(%le : tensor<f32>) -> tensor<f32>
  %loss = linalg.reduce { arith.addf } ins(%y : tensor<3x2x4xf32>) outs(%l0 : tensor<f32>) dimensions = [0, 1, 2]
  return %loss : tensor<f32>
}
