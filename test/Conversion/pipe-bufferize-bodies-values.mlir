// A result that another op updates in place keeps what it held: there is one copy, and each result has its own memory.

// RUN: veeline-opt %s --pipe-results-to-arguments --pipe-bufferize-bodies --canonicalize --cse | FileCheck %s
// RUN: veeline-opt %s --pipe-bufferize-chunks | FileCheck %s --check-prefix=SPACE

// No temporary is left.
// SPACE-COUNT-6: pipe.workspace_bytes = 0

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @updated_by_op
// CHECK-SAME: !llvm.ptr, %[[X:.*]]: memref<4x4xf64>, %[[SUM:.*]]: memref<4xf64>, %[[MAX:.*]]: memref<4xf64>)
// CHECK: linalg.fill {{.*}} outs(%[[MAX]] : memref<4xf64>)
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<4x4xf64>) outs(%[[MAX]] : memref<4xf64>)
// CHECK: linalg.copy ins(%[[MAX]] : memref<4xf64>) outs(%[[SUM]] : memref<4xf64>)
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<4x4xf64>) outs(%[[SUM]] : memref<4xf64>)
// CHECK-NOT: copy
// CHECK: return
func.func @updated_by_op(%x: tensor<4x4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<4xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<4xf64>) -> tensor<4xf64>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf64>) outs(%zeros : tensor<4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %r = arith.maximumf %a, %o : f64
    linalg.yield %r : f64
  } -> tensor<4xf64>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x4xf64>) outs(%max : tensor<4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %r = arith.addf %a, %o : f64
    linalg.yield %r : f64
  } -> tensor<4xf64>
  return %sum, %max : tensor<4xf64>, tensor<4xf64>
}

// CHECK-LABEL: func.func @target_of_insertion
// CHECK-SAME: !llvm.ptr, %[[X:.*]]: memref<4x2xf64>, %[[FIRST:.*]]: memref<4x4xf64>, %[[SECOND:.*]]: memref<4x4xf64>)
// CHECK: linalg.fill {{.*}} outs(%[[FIRST]] : memref<4x4xf64>)
// CHECK: %[[EVEN:.*]] = memref.subview %[[FIRST]]
// CHECK: memref.copy %[[X]], %[[EVEN]]
// CHECK: linalg.copy ins(%[[FIRST]] : memref<4x4xf64>) outs(%[[SECOND]] : memref<4x4xf64>)
// CHECK: %[[ODD:.*]] = memref.subview %[[SECOND]]
// CHECK: memref.copy %[[X]], %[[ODD]]
// CHECK-NOT: copy
// CHECK: return
func.func @target_of_insertion(%x: tensor<4x2xf64>) -> (tensor<4x4xf64>, tensor<4x4xf64>) {
  %zero = arith.constant 0.0 : f64
  %empty = tensor.empty() : tensor<4x4xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<4x4xf64>) -> tensor<4x4xf64>
  %first = tensor.insert_slice %x into %zeros[0, 0] [4, 2] [1, 2] : tensor<4x2xf64> into tensor<4x4xf64>
  %second = tensor.insert_slice %x into %first[0, 1] [4, 2] [1, 2] : tensor<4x2xf64> into tensor<4x4xf64>
  return %first, %second : tensor<4x4xf64>, tensor<4x4xf64>
}

// A result, with one element replaced, is another result.
// CHECK-LABEL: func.func @target_of_element
// CHECK-SAME: !llvm.ptr, %[[X:.*]]: memref<f64>, %[[FIRST:.*]]: memref<2xf64>, %[[SECOND:.*]]: memref<2xf64>)
// CHECK: linalg.fill {{.*}} outs(%[[SECOND]] : memref<2xf64>)
// CHECK: linalg.copy ins(%[[SECOND]] : memref<2xf64>) outs(%[[FIRST]] : memref<2xf64>)
// CHECK: memref.store %{{.*}}, %[[FIRST]]
// CHECK-NOT: copy
// CHECK: return
func.func @target_of_element(%x: tensor<f64>) -> (tensor<2xf64>, tensor<2xf64>) {
  %zero = arith.constant 0.0 : f64
  %first = arith.constant 0 : index
  %empty = tensor.empty() : tensor<2xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<2xf64>) -> tensor<2xf64>
  %value = tensor.extract %x[] : tensor<f64>
  %element = tensor.insert %value into %zeros[%first] : tensor<2xf64>
  return %element, %zeros : tensor<2xf64>, tensor<2xf64>
}

// A view of the result is updated.
// CHECK-LABEL: func.func @view_updated
// CHECK-SAME: !llvm.ptr, %[[IN:.*]]: memref<2x2xf64>, %[[FLAT:.*]]: memref<4xf64>, %[[SUM:.*]]: memref<2x2xf64>)
// CHECK: linalg.copy {{.*}} outs(%[[SUM]] : memref<2x2xf64>)
// CHECK: linalg.generic {{.*}} outs(%[[SUM]] : memref<2x2xf64>)
// CHECK-NOT: copy
// CHECK: return
func.func @view_updated(%x: tensor<2x2xf64>) -> (tensor<4xf64>, tensor<2x2xf64>) {
  %one = arith.constant 1.0 : f64
  %empty = tensor.empty() : tensor<4xf64>
  %ones = linalg.fill ins(%one : f64) outs(%empty : tensor<4xf64>) -> tensor<4xf64>
  %square = tensor.expand_shape %ones [[0, 1]] output_shape [2, 2] : tensor<4xf64> into tensor<2x2xf64>
  %sum = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<2x2xf64>) outs(%square : tensor<2x2xf64>) {
  ^bb0(%a: f64, %o: f64):
    %r = arith.addf %a, %o : f64
    linalg.yield %r : f64
  } -> tensor<2x2xf64>
  return %ones, %sum : tensor<4xf64>, tensor<2x2xf64>
}

// The same value as two results.
// CHECK-LABEL: func.func @returned_twice
// CHECK-SAME: !llvm.ptr, %[[X:.*]]: memref<4x4xf64>, %[[A:.*]]: memref<4x4xf64> {{.*}}, %[[B:.*]]: memref<4x4xf64> {pipe.role
// CHECK: linalg.generic {{.*}} outs(%[[A]] : memref<4x4xf64>)
// CHECK: linalg.copy ins(%[[A]] : memref<4x4xf64>) outs(%[[B]] : memref<4x4xf64>)
// CHECK-NOT: copy
// CHECK: return
func.func @returned_twice(%x: tensor<4x4xf64>) -> (tensor<4x4xf64> {pipe.role = #pipe.role<operand_grad 0>}, tensor<4x4xf64> {pipe.role = #pipe.role<saved 0>}) {
  %empty = tensor.empty() : tensor<4x4xf64>
  %y = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x4xf64>) outs(%empty : tensor<4x4xf64>) {
  ^bb0(%a: f64, %o: f64):
    %r = arith.addf %a, %a : f64
    linalg.yield %r : f64
  } -> tensor<4x4xf64>
  return %y, %y : tensor<4x4xf64>, tensor<4x4xf64>
}

// CHECK-LABEL: func.func @returns_arguments
// CHECK-SAME: !llvm.ptr, %[[X:.*]]: memref<4xf64>, %[[Y:.*]]: memref<4xf64>, %[[A:.*]]: memref<4xf64>, %[[B:.*]]: memref<4xf64>)
// CHECK-DAG: memref.copy %[[X]], %[[B]]
// CHECK-DAG: memref.copy %[[Y]], %[[A]]
// CHECK-NOT: copy
// CHECK: return
func.func @returns_arguments(%x: tensor<4xf64>, %y: tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>) {
  return %y, %x : tensor<4xf64>, tensor<4xf64>
}

// Two sums start from the same zeros. One is a result, the other goes into an accumulator: it is not computed in the
// memory of the result, and nothing is copied.
// CHECK-LABEL: func.func @sums_from_one_fill
// CHECK-SAME: %[[DX:[a-z0-9]*]]: memref<4xf64> {pipe.role = #pipe.role<operand_grad 0>}, %[[DW:.*]]: memref<4xf64> {pipe.role
// CHECK-NOT: copy
// CHECK: memref.store %{{.*}}, %[[DX]]
// CHECK-NOT: %[[DX]]
// CHECK: memref.store %{{.*}}, %[[TEMPORARY:[a-z0-9_]*]][
// CHECK-NOT: %[[DX]]
// CHECK: linalg.generic {{.*}} ins(%[[TEMPORARY]] : memref<4xf64>) outs(%[[DW]] : memref<4xf64>)
// CHECK-NOT: copy
// CHECK: return
func.func @sums_from_one_fill(%x: tensor<8xf64>, %y: tensor<8xf64>)
    -> (tensor<4xf64> {pipe.role = #pipe.role<operand_grad 0>}, tensor<4xf64> {pipe.role = #pipe.role<param_grad 1>}) {
  %zero = arith.constant 0.0 : f64
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty() : tensor<4xf64>
  %zeros = linalg.fill ins(%zero : f64) outs(%empty : tensor<4xf64>) -> tensor<4xf64>
  %dx = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %zeros) -> (tensor<4xf64>) {
    %j = arith.remui %i, %c4 : index
    %a = tensor.extract %x[%i] : tensor<8xf64>
    %b = tensor.extract %sum[%j] : tensor<4xf64>
    %c = arith.addf %a, %b : f64
    %next = tensor.insert %c into %sum[%j] : tensor<4xf64>
    scf.yield %next : tensor<4xf64>
  }
  %dw = scf.for %i = %c0 to %c8 step %c1 iter_args(%sum = %zeros) -> (tensor<4xf64>) {
    %j = arith.remui %i, %c4 : index
    %a = tensor.extract %y[%i] : tensor<8xf64>
    %b = tensor.extract %sum[%j] : tensor<4xf64>
    %c = arith.addf %a, %b : f64
    %next = tensor.insert %c into %sum[%j] : tensor<4xf64>
    scf.yield %next : tensor<4xf64>
  }
  return %dx, %dw : tensor<4xf64>, tensor<4xf64>
}
