// RUN: veeline-opt %s --pipe-normalize-ops=target=cuda | FileCheck %s

// Convolutions of small floats keep their operands, and follow the rule of products: a result of their type where the sum starts from zeros and
// is rounded at once, f32 else.

// CHECK-LABEL: func.func @rounded
// CHECK-NOT:     arith.extf
// CHECK:         %[[Y:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x8x4xbf16>, tensor<3x4x5xbf16>) outs(%{{.*}} : tensor<2x6x5xbf16>)
// CHECK-NOT:     arith.truncf
// CHECK:         return %[[Y]]
func.func @rounded(%x: tensor<2x8x4xbf16>, %w: tensor<3x4x5xbf16>) -> tensor<2x6x5xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %0 = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<2x8x4xbf16>, tensor<3x4x5xbf16>) outs(%z : tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %1 = arith.truncf %0 : tensor<2x6x5xf32> to tensor<2x6x5xbf16>
  return %1 : tensor<2x6x5xbf16>
}

// What it starts from is added to its result of f32, and the sum is rounded.

// CHECK-LABEL: func.func @started
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x4xf16>, %[[W:[a-z0-9]+]]: tensor<3x4x5xf16>, %[[START:[a-z0-9]+]]: tensor<2x6x5xf16>
// CHECK:         %[[EXTENDED:.*]] = linalg.generic {{.*}} ins(%[[START]] : tensor<2x6x5xf16>) outs(%{{.*}} : tensor<2x6x5xf32>)
// CHECK:         %[[ZEROS:.*]] = linalg.fill {{.*}} -> tensor<2x6x5xf32>
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<2x8x4xf16>, tensor<3x4x5xf16>) outs(%[[ZEROS]] : tensor<2x6x5xf32>)
// CHECK:         %[[ALL:.*]] = linalg.generic {{.*}} ins(%[[EXTENDED]], %[[SUM]] : tensor<2x6x5xf32>, tensor<2x6x5xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[ALL]] : tensor<2x6x5xf32>) outs(%{{.*}} : tensor<2x6x5xf16>)
// CHECK:           arith.truncf
func.func @started(%x: tensor<2x8x4xf16>, %w: tensor<3x4x5xf16>, %start: tensor<2x6x5xf16>) -> tensor<2x6x5xf16> {
  %0 = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<2x8x4xf16>, tensor<3x4x5xf16>) outs(%start : tensor<2x6x5xf16>) -> tensor<2x6x5xf16>
  return %0 : tensor<2x6x5xf16>
}

// An adjoint whose products are of bf16 and its sum of f32, which is rounded: what is rounded are sums alone.

// CHECK-LABEL: func.func @adjoint
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x8x4xbf16>, tensor<2x6x5xbf16>) outs(%{{.*}} : tensor<3x4x5xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      arith.mulf %{{.*}} : f32
func.func @adjoint(%x: tensor<2x8x4xbf16>, %y: tensor<2x6x5xbf16>) -> tensor<3x4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4x5xf32>) -> tensor<3x4x5xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, o, f, k, c) -> (n, o + k, c)>, affine_map<(n, o, f, k, c) -> (n, o, f)>, affine_map<(n, o, f, k, c) -> (k, c, f)>],
                       iterator_types = ["reduction", "reduction", "parallel", "parallel", "parallel"]}
      ins(%x, %y : tensor<2x8x4xbf16>, tensor<2x6x5xbf16>) outs(%z : tensor<3x4x5xf32>) {
  ^bb0(%a: bf16, %b: bf16, %s: f32):
    %m = arith.mulf %a, %b : bf16
    %w = arith.extf %m : bf16 to f32
    %t = arith.addf %s, %w : f32
    linalg.yield %t : f32
  } -> tensor<3x4x5xf32>
  return %0 : tensor<3x4x5xf32>
}

// Of two types it is one of f32, but where one is only an extension.

// CHECK-LABEL: func.func @two_types
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x8x4xf32>, tensor<3x4x5xf32>)
func.func @two_types(%x: tensor<2x8x4xbf16>, %w: tensor<3x4x5xf32>) -> tensor<2x6x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %0 = linalg.conv_1d_nwc_wcf ins(%x, %w : tensor<2x8x4xbf16>, tensor<3x4x5xf32>) outs(%z : tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  return %0 : tensor<2x6x5xf32>
}

// CHECK-LABEL: func.func @extended
// CHECK-SAME:    %[[X:[a-z0-9]+]]: tensor<2x8x4xbf16>, %[[W:[a-z0-9]+]]: tensor<3x4x5xbf16>
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[W]] : tensor<2x8x4xbf16>, tensor<3x4x5xbf16>) outs(%{{.*}} : tensor<2x6x5xf32>)
func.func @extended(%x: tensor<2x8x4xbf16>, %w: tensor<3x4x5xbf16>) -> tensor<2x6x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  %single = arith.extf %w : tensor<3x4x5xbf16> to tensor<3x4x5xf32>
  %0 = linalg.conv_1d_nwc_wcf ins(%x, %single : tensor<2x8x4xbf16>, tensor<3x4x5xf32>) outs(%z : tensor<2x6x5xf32>) -> tensor<2x6x5xf32>
  return %0 : tensor<2x6x5xf32>
}
