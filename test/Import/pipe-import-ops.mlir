// RUN: veeline-opt %s --pipe-import-ops | FileCheck %s

// CHECK-LABEL: func.func @generate
// CHECK:         linalg.generic
// CHECK:           %[[I:.*]] = linalg.index 0
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           arith.cmpi slt, %[[I]], %[[J]]
func.func @generate(%low: f32, %high: f32) -> tensor<3x4xf32> {
  %mask = tensor.generate {
  ^bb0(%i: index, %j: index):
    %before = arith.cmpi slt, %i, %j : index
    %value = arith.select %before, %low, %high : f32
    tensor.yield %value : f32
  } : tensor<3x4xf32>
  return %mask : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @pack
// CHECK:         tensor.expand_shape
// CHECK:         linalg.transpose
// CHECK-NOT:     linalg.pack
func.func @pack(%x: tensor<4x6xf32>, %out: tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32> {
  %0 = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 2] into %out : tensor<4x6xf32> -> tensor<2x3x2x2xf32>
  return %0 : tensor<2x3x2x2xf32>
}

// CHECK-LABEL: func.func @gather(
// CHECK-SAME:    %[[X:.*]]: tensor<5x3x4xf32>, %[[AT:.*]]: tensor<6x2xi32>
// CHECK:         linalg.generic {indexing_maps = [#[[FIRST:.*]], #[[SECOND:.*]], #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[AT]], %[[AT]] : tensor<6x2xi32>, tensor<6x2xi32>) outs({{.*}} : tensor<6x3xf32>)
// CHECK:         ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: f32):
// CHECK:           %[[I:.*]] = arith.index_cast %[[A]]
// CHECK:           %[[J:.*]] = linalg.index 1
// CHECK:           %[[K:.*]] = arith.index_cast %[[B]]
// CHECK:           tensor.extract %[[X]][%[[I]], %[[J]], %[[K]]]
func.func @gather(%x: tensor<5x3x4xf32>, %at: tensor<6x2xi32>) -> tensor<6x3xf32> {
  %0 = tensor.gather %x[%at] gather_dims([0, 2]) : (tensor<5x3x4xf32>, tensor<6x2xi32>) -> tensor<6x3xf32>
  return %0 : tensor<6x3xf32>
}

// Indices without leading dimensions, which are of one place.
// CHECK-LABEL: func.func @gather_one(
// CHECK-SAME:    %[[X:.*]]: tensor<5x4xf32>, %[[AT:.*]]: tensor<1xindex>
// CHECK:         linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel"]} ins(%[[AT]] : tensor<1xindex>) outs({{.*}} : tensor<4xf32>)
// CHECK:         ^bb0(%[[I:.*]]: index, %{{.*}}: f32):
// CHECK:           %[[J:.*]] = linalg.index 0
// CHECK:           tensor.extract %[[X]][%[[I]], %[[J]]]
func.func @gather_one(%x: tensor<5x4xf32>, %at: tensor<1xindex>) -> tensor<4xf32> {
  %0 = tensor.gather %x[%at] gather_dims([0]) : (tensor<5x4xf32>, tensor<1xindex>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @scatter(
// CHECK-SAME:    %[[X:.*]]: tensor<6x1x4xf32>, %[[Y:.*]]: tensor<8x4xf32>, %[[AT:.*]]: tensor<6x1xindex>
// CHECK:         scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[D:.*]] = %[[Y]])
// CHECK:           %[[N:.*]] = tensor.extract %[[AT]][%[[I]], %{{.*}}]
// CHECK:           %[[S:.*]] = tensor.extract_slice %[[X]][%[[I]], 0, 0] [1, 1, 4] [1, 1, 1] : tensor<6x1x4xf32> to tensor<1x4xf32>
// CHECK:           tensor.insert_slice %[[S]] into %[[D]][%[[N]], 0] [1, 4] [1, 1]
func.func @scatter(%x: tensor<6x1x4xf32>, %y: tensor<8x4xf32>, %at: tensor<6x1xindex>) -> tensor<8x4xf32> {
  %0 = tensor.scatter %x into %y[%at] scatter_dims([0]) unique : (tensor<6x1x4xf32>, tensor<8x4xf32>, tensor<6x1xindex>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}
