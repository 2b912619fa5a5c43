// RUN: veeline-opt %s --pipe-differentiate | FileCheck %s

// What the adjoints of structured ops look like.

// CHECK-DAG: #[[MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[NK:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[KM:.*]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[KN:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>

#id = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

pipe.pipeline @net stages(7) chunks_per_stage(1) placement(linear) {
  %a = pipe.param <"a", init = zeros> : tensor<3x4xf32>
  %b = pipe.param <"b", init = zeros> : tensor<4x5xf32>
  %c = pipe.param <"c", init = zeros> : tensor<3x5xf32>
  %d = pipe.param <"d", init = zeros> : tensor<2x3x4xf32>
  %h = pipe.param <"h", init = zeros> : tensor<3x4xbf16>
  %k = pipe.param <"k", init = zeros> : tensor<4xf32>
  %rows = pipe.batch "rows" : tensor<2xi32>
  %0 = pipe.chunk 0 @matmul(%a, %b, %c) : (tensor<3x4xf32>, tensor<4x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = pipe.chunk 1 @contract(%d, %b) : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %2 = pipe.chunk 2 @broadcast_add(%a, %k) : (tensor<3x4xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %3 = pipe.chunk 3 @shape(%k) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = pipe.chunk 4 @gather(%a, %rows) : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  %5 = pipe.chunk 5 @bf16(%h) : (tensor<3x4xbf16>) -> tensor<3x3xbf16>
  %6 = pipe.chunk 6 @loss(%0, %1, %2, %3, %4, %5) : (tensor<3x5xf32>, tensor<2x3x5xf32>, tensor<3x4xf32>, tensor<4xf32>, tensor<2x4xf32>, tensor<3x3xbf16>) -> tensor<f32>
  pipe.yield %6 : tensor<f32>
}

// Matrix products stay matrix products; the gradient of the init is the incoming one.
// CHECK-LABEL: func.func private @matmul_backward(
// CHECK-SAME:    %[[A:[^ ]*]]: tensor<3x4xf32>{{.*}}, %[[B:[^ ]*]]: tensor<4x5xf32>{{.*}}, %[[G:[^ ]*]]: tensor<3x5xf32> {pipe.role = #pipe.role<result_grad 0>})
// CHECK:         %[[DA:.*]] = linalg.matmul indexing_maps = [#[[MK]], #[[NK]], #[[MN]]] ins(%[[G]], %[[B]] :
// CHECK:         %[[DB:.*]] = linalg.matmul indexing_maps = [#[[KM]], #[[KN]], #[[MN]]] ins(%[[A]], %[[G]] :
// CHECK:         return %[[DA]], %[[DB]], %[[G]]
func.func private @matmul(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %c: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<3x4xf32>, tensor<4x5xf32>) outs(%c : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// The adjoint of the weight sums over two dimensions: a generic of the form of a contraction.
// CHECK-LABEL: func.func private @contract_backward(
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK:           %[[P:.*]] = arith.mulf
// CHECK-NEXT:      arith.addf %{{.*}}, %[[P]]
// CHECK-NEXT:      linalg.yield
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK:           %[[P:.*]] = arith.mulf
// CHECK-NEXT:      arith.addf %{{.*}}, %[[P]]
// CHECK-NEXT:      linalg.yield
func.func private @contract(%d: tensor<2x3x4xf32>, %b: tensor<4x5xf32>) -> tensor<2x3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x5xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  %0 = linalg.contract indexing_maps = [affine_map<(b, t, n, k) -> (b, t, k)>, affine_map<(b, t, n, k) -> (k, n)>, affine_map<(b, t, n, k) -> (b, t, n)>]
    ins(%d, %b : tensor<2x3x4xf32>, tensor<4x5xf32>) outs(%c : tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %0 : tensor<2x3x5xf32>
}

// Where nothing is multiplied the gradient itself passes; a broadcast dimension is summed.
// CHECK-LABEL: func.func private @broadcast_add_backward(
// CHECK-SAME:    %[[G:[^ ]*]]: tensor<3x4xf32> {pipe.role = #pipe.role<result_grad 0>})
// CHECK:         %[[ZEROS:.*]] = linalg.fill
// CHECK:         %[[DK:.*]] = linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]} ins(%[[G]] : tensor<3x4xf32>) outs(%[[ZEROS]] : tensor<4xf32>)
// CHECK:         return %[[G]], %[[DK]]
func.func private @broadcast_add(%a: tensor<3x4xf32>, %k: tensor<4xf32>) -> tensor<3x4xf32> {
  %e = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]} ins(%a, %k : tensor<3x4xf32>, tensor<4xf32>) outs(%e : tensor<3x4xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// The operand that only shows how far j goes is not kept for that.
// CHECK-LABEL: func.func private @shape_backward(
// CHECK-SAME:    %[[G:[^ ]*]]: tensor<4xf32> {pipe.role = #pipe.role<result_grad 0>})
// CHECK:         %[[SHAPE:.*]] = tensor.empty() : tensor<7xi1>
// CHECK:         linalg.generic {{.*}} ins(%[[G]], %[[SHAPE]] :
func.func private @shape(%k: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %big = tensor.empty() : tensor<4x7xf32>
  %e = tensor.empty() : tensor<4xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#i, #ij, #i], iterator_types = ["parallel", "reduction"]} ins(%k, %big : tensor<4xf32>, tensor<4x7xf32>) outs(%c : tensor<4xf32>) {
  ^bb0(%x: f32, %unused: f32, %acc: f32):
    %s = arith.addf %x, %acc : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A gather is scattered back, one iteration after the other.
// CHECK-LABEL: func.func private @gather_backward(
// CHECK-SAME:    %[[ROWS:[^ ]*]]: tensor<2xi32>{{.*}}, %[[G:[^ ]*]]: tensor<2x4xf32>
// CHECK:         %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<3x4xf32>
// CHECK:         %[[DA:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[OUTER:.*]] = %[[ZEROS]])
// CHECK:           scf.for %[[J:.*]] = {{.*}} iter_args(%[[INNER:.*]] = %[[OUTER]])
// CHECK:             %[[ROW:.*]] = tensor.extract %[[ROWS]][%[[I]]]
// CHECK:             %[[VALUE:.*]] = tensor.extract %[[G]][%[[I]], %[[J]]]
// CHECK:             %[[R:.*]] = arith.index_cast %[[ROW]]
// CHECK:             %[[OLD:.*]] = tensor.extract %[[INNER]][%[[R]], %[[J]]]
// CHECK:             %[[SUM:.*]] = arith.addf %[[OLD]], %[[VALUE]]
// CHECK:             tensor.insert %[[SUM]] into %[[INNER]][%[[R]], %[[J]]]
// CHECK:         return %[[DA]]
func.func private @gather(%a: tensor<3x4xf32>, %rows: tensor<2xi32>) -> tensor<2x4xf32> {
  %e = tensor.empty() : tensor<2x4xf32>
  %0 = linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]} ins(%rows : tensor<2xi32>) outs(%e : tensor<2x4xf32>) {
  ^bb0(%row: i32, %out: f32):
    %r = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %v = tensor.extract %a[%r, %j] : tensor<3x4xf32>
    linalg.yield %v : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// Products of small floats are summed in f32. The argument is used twice: two contributions.
// CHECK-LABEL: func.func private @bf16_backward(
// CHECK:         linalg.matmul {{.*}} outs({{.*}} : tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK:         arith.truncf
// CHECK:         linalg.matmul {{.*}} outs({{.*}} : tensor<3x4xf32>) -> tensor<3x4xf32>
// CHECK:         arith.truncf
// CHECK:         arith.addf
func.func private @bf16(%h: tensor<3x4xbf16>) -> tensor<3x3xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<3x3xbf16>
  %c = linalg.fill ins(%zero : bf16) outs(%e : tensor<3x3xbf16>) -> tensor<3x3xbf16>
  %0 = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
    ins(%h, %h : tensor<3x4xbf16>, tensor<3x4xbf16>) outs(%c : tensor<3x3xbf16>) -> tensor<3x3xbf16>
  return %0 : tensor<3x3xbf16>
}

func.func private @loss(%0: tensor<3x5xf32>, %1: tensor<2x3x5xf32>, %2: tensor<3x4xf32>, %3: tensor<4xf32>, %4: tensor<2x4xf32>, %5: tensor<3x3xbf16>) -> tensor<f32> {
  %c = arith.constant dense<0.0> : tensor<f32>
  return %c : tensor<f32>
}
