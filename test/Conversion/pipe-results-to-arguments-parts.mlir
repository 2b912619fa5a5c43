// RUN: veeline-opt %s --pipe-results-to-arguments=target=cuda --canonicalize | FileCheck %s
// RUN: veeline-opt %s --pipe-results-to-arguments --canonicalize | FileCheck %s --check-prefix=HOST

#map = affine_map<(i, j) -> (i, j)>

// For a GPU the gradient of a table that is multiplied by and looked up is added in parts: first the product, then, by the loop itself, what is looked up.

// CHECK-LABEL: func.func private @tied
// CHECK: %[[OUT:.*]] = bufferization.to_tensor %{{.*}} restrict writable
// CHECK-NOT: linalg.fill
// CHECK: %[[FIRST:.*]] = linalg.generic {{.*}} ins(%{{.*}} : tensor<8x4xf32>) outs(%[[OUT]] : tensor<8x4xf32>)
// CHECK: %[[SUM:.*]] = scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
// CHECK-NOT: linalg.generic
// CHECK: bufferization.materialize_in_destination %[[SUM]] in writable

// HOST-LABEL: func.func private @tied
// HOST: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}})
// HOST-COUNT-2: linalg.generic
func.func private @tied(%tokens: tensor<6xi32> {pipe.role = #pipe.role<operand 0>}, %dy: tensor<6x4xf32> {pipe.role = #pipe.role<result_grad 0>},
                        %product: tensor<8x4xf32> {pipe.role = #pipe.role<saved 0>}) -> (tensor<8x4xf32> {pipe.role = #pipe.role<param_grad 1>}) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : tensor<8x4xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x4xf32>) -> tensor<8x4xf32>
  %scattered = scf.for %i = %c0 to %c6 step %c1 iter_args(%outer = %zeros) -> (tensor<8x4xf32>) {
    %row = scf.for %j = %c0 to %c4 step %c1 iter_args(%inner = %outer) -> (tensor<8x4xf32>) {
      %token = tensor.extract %tokens[%i] : tensor<6xi32>
      %value = tensor.extract %dy[%i, %j] : tensor<6x4xf32>
      %at = arith.index_cast %token : i32 to index
      %old = tensor.extract %inner[%at, %j] : tensor<8x4xf32>
      %new = arith.addf %old, %value : f32
      %inserted = tensor.insert %new into %inner[%at, %j] : tensor<8x4xf32>
      scf.yield %inserted : tensor<8x4xf32>
    }
    scf.yield %row : tensor<8x4xf32>
  }
  %init = tensor.empty() : tensor<8x4xf32>
  %sum = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]} ins(%product, %scattered : tensor<8x4xf32>, tensor<8x4xf32>) outs(%init : tensor<8x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %sum : tensor<8x4xf32>
}

// A loop that does something else with what is there starts from zeros.

// CHECK-LABEL: func.func private @overwritten
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[ZEROS]])
// CHECK: linalg.generic
func.func private @overwritten(%tokens: tensor<6xi32> {pipe.role = #pipe.role<operand 0>}, %dy: tensor<6xf32> {pipe.role = #pipe.role<result_grad 0>})
    -> (tensor<8xf32> {pipe.role = #pipe.role<param_grad 1>}) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %empty = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %scattered = scf.for %i = %c0 to %c6 step %c1 iter_args(%outer = %zeros) -> (tensor<8xf32>) {
    %token = tensor.extract %tokens[%i] : tensor<6xi32>
    %value = tensor.extract %dy[%i] : tensor<6xf32>
    %at = arith.index_cast %token : i32 to index
    %inserted = tensor.insert %value into %outer[%at] : tensor<8xf32>
    scf.yield %inserted : tensor<8xf32>
  }
  return %scattered : tensor<8xf32>
}
