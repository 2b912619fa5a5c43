// RUN: veeline-opt %s --pipe-import-batch=microbatch-size=3 --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-import-batch --split-input-file | FileCheck %s --check-prefix=ONE
// ONE: tensor<1x4xf32> {pipe.batch = "x"}

// Data gets samples, weights do not; a weight with a batch dimension loses it.
// CHECK-LABEL: func.func @product(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x4xf32> {pipe.batch = "x"},
// CHECK-SAME:    %[[W:[a-z0-9]+]]: tensor<1x4x5xf32> {pipe.param = {{.*}}}) -> tensor<3x1x5xf32>
// CHECK:         %[[X3:.*]] = tensor.expand_shape %[[X]] {{.*}} : tensor<3x4xf32> into tensor<3x1x4xf32>
// CHECK:         linalg.fill {{.*}} -> tensor<3x1x5xf32>
// CHECK:         %[[W2:.*]] = tensor.collapse_shape %[[W]] {{\[\[}}0, 1], [2]] : tensor<1x4x5xf32> into tensor<4x5xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[X3]], %[[W2]] : tensor<3x1x4xf32>, tensor<4x5xf32>)
func.func @product(%x: tensor<1x4xf32> {pipe.batch = "x"},
    %w: tensor<1x4x5xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<1x1x5xf32> {
  %zero = arith.constant 0.0 : f32
  %x3 = tensor.expand_shape %x [[0, 1], [2]] output_shape [1, 1, 4] : tensor<1x4xf32> into tensor<1x1x4xf32>
  %e = tensor.empty() : tensor<1x1x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
  %y = linalg.batch_matmul ins(%x3, %w : tensor<1x1x4xf32>, tensor<1x4x5xf32>) outs(%z : tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
  return %y : tensor<1x1x5xf32>
}

// -----

// Samples are the slower part of a merged dimension, of which the body sees the
// part of one sample; what is the same for all is repeated.
// CHECK-LABEL: func.func @merged(
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<3x2x4xf32> {pipe.batch = "x"},
// CHECK-SAME:    %[[P:[a-z0-9]+]]: tensor<2x4xf32> {pipe.param = {{.*}}}) -> tensor<6x4xf32>
// CHECK:         %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[P]] : tensor<2x4xf32>) outs(%{{.*}} : tensor<3x2x4xf32>)
// CHECK:         %[[REPEATED:.*]] = tensor.collapse_shape %[[ALL]] {{\[\[}}0, 1], [2]] : tensor<3x2x4xf32> into tensor<6x4xf32>
// CHECK:         %[[ROWS:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0, 1], [2]] : tensor<3x2x4xf32> into tensor<6x4xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[ROWS]], %[[REPEATED]] : tensor<6x4xf32>, tensor<6x4xf32>)
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[TWO:.*]] = arith.constant 2 : index
// CHECK:           arith.remui %[[I]], %[[TWO]]
func.func @merged(%x: tensor<1x2x4xf32> {pipe.batch = "x"},
    %p: tensor<2x4xf32> {pipe.param = #pipe.param<"p", init = zeros>}) -> tensor<2x4xf32> {
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x2x4xf32> into tensor<2x4xf32>
  %e = tensor.empty() : tensor<2x4xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%rows, %p : tensor<2x4xf32>, tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f32
    %s = arith.addf %a, %b : f32
    %r = arith.addf %s, %f : f32
    linalg.yield %r : f32
  } -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
