// RUN: veeline-opt %s --pipe-normalize-ops | FileCheck %s

// Operands are converted, products summed in f32, the sum is rounded once.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3xbf16>, %[[B:[a-z0-9]+]]: tensor<3x4xbf16>
// CHECK:         %[[WIDE_A:.*]] = linalg.generic {{.*}} ins(%[[A]] : tensor<2x3xbf16>) outs(%{{.*}} : tensor<2x3xf32>)
// CHECK:           arith.extf
// CHECK:         %[[WIDE_B:.*]] = linalg.generic {{.*}} ins(%[[B]] : tensor<3x4xbf16>) outs(%{{.*}} : tensor<3x4xf32>)
// CHECK:         %[[ZEROS:.*]] = linalg.fill ins(%{{.*}} : f32) {{.*}} -> tensor<2x4xf32>
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[WIDE_A]], %[[WIDE_B]] : tensor<2x3xf32>, tensor<3x4xf32>) outs(%[[ZEROS]] : tensor<2x4xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      linalg.yield
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]] : tensor<2x4xf32>) outs(%{{.*}} : tensor<2x4xbf16>)
// CHECK:           arith.truncf
func.func @product(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>) -> tensor<2x4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<2x4xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%e : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xbf16>, tensor<3x4xbf16>) outs(%z : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %0 : tensor<2x4xbf16>
}

// A gradient: f16 in, f32 out, with the conversions in the body.
// CHECK-LABEL: func.func @mixed
// CHECK-COUNT-2: arith.extf
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x2xf32>, tensor<3x4xf32>) outs(%{{.*}} : tensor<2x4xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.mulf
// CHECK-NOT:     arith.truncf
func.func @mixed(%a: tensor<3x2xf16>, %b: tensor<3x4xf16>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<3x2xf16>, tensor<3x4xf16>) outs(%c : tensor<2x4xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %wx = arith.extf %x : f16 to f32
    %wy = arith.extf %y : f16 to f32
    %p = arith.mulf %wx, %wy : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
