// What a tile becomes has a reshape, which is lowered, too.
// RUN: veeline-opt %s --pipe-import=loss=mse 2>/dev/null | FileCheck %s
// CHECK-NOT: tosa.
// CHECK: tensor<1x4x12xf32>
// CHECK-NOT: tosa.

func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x4x12xf32> {
  %w = "tosa.const"() <{values = dense<0.5> : tensor<1x6x6xf32>}> : () -> tensor<1x6x6xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x6xf32>, tensor<1x6x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6xf32>
  %multiples = tosa.const_shape {values = dense<[1, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %1 = tosa.tile %0, %multiples : (tensor<1x4x6xf32>, !tosa.shape<3>) -> tensor<1x4x12xf32>
  return %1 : tensor<1x4x12xf32>
}
