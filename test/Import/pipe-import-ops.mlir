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
