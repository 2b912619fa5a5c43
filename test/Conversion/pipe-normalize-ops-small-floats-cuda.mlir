// RUN: veeline-opt %s --pipe-normalize-ops=target=cuda | FileCheck %s


// The library of a GPU takes the operands as they are, and rounds its sums of f32
// once.
// CHECK-LABEL: func.func @product
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3xbf16>, %[[B:[a-z0-9]+]]: tensor<3x4xbf16>
// CHECK-NOT:     arith.extf
// CHECK:         linalg.fill ins(%{{.*}} : bf16) {{.*}} -> tensor<2x4xbf16>
// CHECK:         %[[C:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<2x3xbf16>, tensor<3x4xbf16>) outs(%{{.*}} : tensor<2x4xbf16>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.mulf
// CHECK-NEXT:      arith.addf
// CHECK-NEXT:      linalg.yield
// CHECK:         return %[[C]]
func.func @product(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>) -> tensor<2x4xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<2x4xbf16>
  %z = linalg.fill ins(%zero : bf16) outs(%e : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xbf16>, tensor<3x4xbf16>) outs(%z : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %0 : tensor<2x4xbf16>
}

// A sum of f32 that is rounded and used for nothing else is one that the library
// rounds.
// CHECK-LABEL: func.func @rounded
// CHECK-NOT:     arith.truncf
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x3xf16>, tensor<3x4xf16>) outs(%{{.*}} : tensor<2x4xf16>)
// CHECK-NOT:     arith.truncf
// CHECK:         return
func.func @rounded(%a: tensor<2x3xf16>, %b: tensor<3x4xf16>) -> tensor<2x4xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf16>, tensor<3x4xf16>) outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = arith.truncf %0 : tensor<2x4xf32> to tensor<2x4xf16>
  return %1 : tensor<2x4xf16>
}

// CHECK-LABEL: func.func @rounded_and_read
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x3xf16>, tensor<3x4xf16>) outs(%{{.*}} : tensor<2x4xf32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      arith.extf
// CHECK-NEXT:      arith.mulf
// CHECK:         arith.truncf
func.func @rounded_and_read(%a: tensor<2x3xf16>, %b: tensor<3x4xf16>) -> (tensor<2x4xf16>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xf16>, tensor<3x4xf16>) outs(%z : tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = arith.truncf %0 : tensor<2x4xf32> to tensor<2x4xf16>
  return %1, %0 : tensor<2x4xf16>, tensor<2x4xf32>
}

// What starts from something is added up in f32 and rounded afterwards.
// CHECK-LABEL: func.func @started
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3xbf16>, %[[B:[a-z0-9]+]]: tensor<3x4xbf16>, %[[C:[a-z0-9]+]]: tensor<2x4xbf16>
// CHECK:         %[[START:.*]] = linalg.generic {{.*}} ins(%[[C]] : tensor<2x4xbf16>) outs(%{{.*}} : tensor<2x4xf32>)
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<2x3xbf16>, tensor<3x4xbf16>) outs(%[[START]] : tensor<2x4xf32>)
// CHECK:         linalg.generic {{.*}} ins(%[[SUM]] : tensor<2x4xf32>) outs(%{{.*}} : tensor<2x4xbf16>)
// CHECK:           arith.truncf
func.func @started(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>, %c: tensor<2x4xbf16>) -> tensor<2x4xbf16> {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xbf16>, tensor<3x4xbf16>) outs(%c : tensor<2x4xbf16>) -> tensor<2x4xbf16>
  return %0 : tensor<2x4xbf16>
}

// The library has no product of two types.
// CHECK-LABEL: func.func @two_types
// CHECK:         arith.extf
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3x4xf32>) outs(%{{.*}} : tensor<2x4xf32>)
func.func @two_types(%a: tensor<2x3xbf16>, %b: tensor<3x4xf32>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<2x3xbf16>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// What is only extended is read as it was before.
// CHECK-LABEL: func.func @extended
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x3xbf16>, %[[B:[a-z0-9]+]]: tensor<3x4xbf16>, %[[C:[a-z0-9]+]]: tensor<2x4xf32>
// CHECK:         %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<2x3xbf16>, tensor<3x4xbf16>) outs(%[[C]] : tensor<2x4xf32>)
// CHECK:         return %[[SUM]]
func.func @extended(%a: tensor<2x3xbf16>, %b: tensor<3x4xbf16>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %wide = arith.extf %b : tensor<3x4xbf16> to tensor<3x4xf32>
  %0 = linalg.matmul ins(%a, %wide : tensor<2x3xbf16>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// But of one type each.
// CHECK-LABEL: func.func @extended_from_two_types
// CHECK:         linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3x4xf32>)
func.func @extended_from_two_types(%a: tensor<2x3xbf16>, %b: tensor<3x4xf16>, %c: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %wide = arith.extf %b : tensor<3x4xf16> to tensor<3x4xf32>
  %0 = linalg.matmul ins(%a, %wide : tensor<2x3xbf16>, tensor<3x4xf32>) outs(%c : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
