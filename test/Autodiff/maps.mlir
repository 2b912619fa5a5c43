// RUN: veeline-opt %s --split-input-file --pipe-partition | FileCheck %s

// What has neither a rule nor code becomes a read by index: here a reversed
// weight. The loop over a reversed output runs the other way.

// CHECK-DAG:     #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func private @net_chunk0(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>)
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #{{.*}}], iterator_types = ["reduction"]} ins(%[[X]] : tensor<4xf32>)
// CHECK:         ^bb0(%[[A:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[E:.*]] = tensor.extract %[[W]][%{{.*}}]
// CHECK:           arith.mulf %[[E]], %[[A]]
func.func @net(%x: tensor<4xf32> {pipe.batch = "x"}, %w: tensor<4xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i) -> (3 - i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]
  } ins(%w, %x : tensor<4xf32>, tensor<4xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// An operand whose map is all that shows how far a loop goes leaves an empty
// tensor, which does.

// CHECK-DAG:     #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK-LABEL: func.func private @net_chunk0(
// CHECK:         %[[SHAPE:.*]] = tensor.empty() : tensor<6xi1>
// CHECK:         linalg.generic {indexing_maps = [#[[ID]], #{{.*}}], iterator_types = ["reduction"]} ins(%[[SHAPE]] : tensor<6xi1>)
func.func @net(%x: tensor<6x3xf32> {pipe.batch = "x"}, %w: tensor<6x3xf32> {pipe.param = #pipe.param<"w", init = zeros>}) -> tensor<f32> {
  %zero = arith.constant dense<0.0> : tensor<f32>
  %p = arith.mulf %x, %w : tensor<6x3xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(i) -> (i, i mod 3)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]
  } ins(%p : tensor<6x3xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}
