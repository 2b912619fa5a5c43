// RUN: veeline-opt %s --pipe-differentiate | FileCheck %s

// A gather of one element in each row, as of the scores of labels: its adjoint is a structured op.

// CHECK-DAG: #[[LABELS:.*]] = affine_map<(d0, d1, d2) -> (d2)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>

#i = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>

pipe.pipeline @net stages(3) chunks_per_stage(1) placement(linear) {
  %a = pipe.param <"a", init = zeros> : tensor<3x5xf32>
  %b = pipe.param <"b", init = zeros> : tensor<4x6x3xbf16>
  %c = pipe.param <"c", init = zeros> : tensor<4x5xf32>
  %labels = pipe.batch "labels" : tensor<3xi32>
  %0 = pipe.chunk 0 @pick(%a, %labels) : (tensor<3x5xf32>, tensor<3xi32>) -> tensor<3xf32>
  %1 = pipe.chunk 1 @middle(%b, %labels) : (tensor<4x6x3xbf16>, tensor<3xi32>) -> tensor<3x4xbf16>
  %2 = pipe.chunk 2 @some(%c, %labels, %0, %1) : (tensor<4x5xf32>, tensor<3xi32>, tensor<3xf32>, tensor<3x4xbf16>) -> tensor<f32>
  pipe.yield %2 : tensor<f32>
}

// CHECK-LABEL: func.func private @pick_backward(
// CHECK-NOT:     scf.for
// CHECK:         %[[D:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%{{.*}}, %{{.*}} : tensor<3xi32>, tensor<3xf32>) outs(%{{.*}} : tensor<3x5xf32>)
// CHECK:         ^bb0(%[[LABEL:.*]]: i32, %[[G:.*]]: f32, %{{.*}}: f32):
// CHECK:           %[[COLUMN:.*]] = arith.index_cast %[[LABEL]]
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[IS:.*]] = arith.cmpi eq, %[[COLUMN]], %[[J]]
// CHECK:           arith.select %[[IS]], %[[G]], %{{.*}} : f32
// CHECK:         return %[[D]]
func.func private @pick(%a: tensor<3x5xf32>, %labels: tensor<3xi32>) -> tensor<3xf32> {
  %e = tensor.empty() : tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%labels : tensor<3xi32>) outs(%e : tensor<3xf32>) {
  ^bb0(%label: i32, %out: f32):
    %row = linalg.index 0 : index
    %column = arith.index_cast %label : i32 to index
    %v = tensor.extract %a[%row, %column] : tensor<3x5xf32>
    linalg.yield %v : f32
  } -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Rows in another order than that of the iterations; what is computed from a label is computed again.
// CHECK-LABEL: func.func private @middle_backward(
// CHECK-NOT:     scf.for
// CHECK:         linalg.generic {indexing_maps = [#[[LABELS]], #[[ROWS]], #{{.*}}]{{.*}} outs(%{{.*}} : tensor<4x6x3xbf16>)
// CHECK:           arith.addi
// CHECK:           linalg.index 1
// CHECK:           arith.cmpi eq
func.func private @middle(%b: tensor<4x6x3xbf16>, %labels: tensor<3xi32>) -> tensor<3x4xbf16> {
  %one = arith.constant 1 : i32
  %e = tensor.empty() : tensor<3x4xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i)>, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%labels : tensor<3xi32>) outs(%e : tensor<3x4xbf16>) {
  ^bb0(%label: i32, %out: bf16):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %next = arith.addi %label, %one : i32
    %column = arith.index_cast %next : i32 to index
    %v = tensor.extract %b[%j, %column, %i] : tensor<4x6x3xbf16>
    linalg.yield %v : bf16
  } -> tensor<3x4xbf16>
  return %0 : tensor<3x4xbf16>
}

// Not all rows are read: a loop.
// CHECK-LABEL: func.func private @some_backward(
// CHECK:         scf.for
func.func private @some(%c: tensor<4x5xf32>, %labels: tensor<3xi32>, %x: tensor<3xf32>, %y: tensor<3x4xbf16>) -> tensor<f32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %s = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %0 = linalg.generic {indexing_maps = [#i, #i, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%labels, %x : tensor<3xi32>, tensor<3xf32>) outs(%s : tensor<f32>) {
  ^bb0(%label: i32, %p: f32, %sum: f32):
    %row = linalg.index 0 : index
    %column = arith.index_cast %label : i32 to index
    %v = tensor.extract %c[%row, %column] : tensor<4x5xf32>
    %t = arith.addf %v, %p : f32
    %n = arith.addf %sum, %t : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%y : tensor<3x4xbf16>) outs(%0 : tensor<f32>) {
  ^bb0(%p: bf16, %sum: f32):
    %w = arith.extf %p : bf16 to f32
    %n = arith.addf %sum, %w : f32
    linalg.yield %n : f32
  } -> tensor<f32>
  return %1 : tensor<f32>
}
