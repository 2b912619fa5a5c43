// The call that computes the gradient of an x with zeros around it gives no more than the inside, whoever reads that,
// and how: its readers differ between the functions of a chunk, and the order of its sums must not.

// RUN: veeline-opt %s --split-input-file --pipe-bufferize-chunks | FileCheck %s

#x = affine_map<(n, o, f, k, c) -> (n, c, o * 2 + k)>
#w = affine_map<(n, o, f, k, c) -> (f, c, k)>
#y = affine_map<(n, o, f, k, c) -> (n, f, o)>

// CHECK: pipe.convolutions = [{{.*}}padding = array<i64: 1>, {{.*}}x_sizes = array<i64: 5>, x_strides = array<i64: 30, 30, 5, 1>
// CHECK-LABEL: func.func @whole
// CHECK-NOT: memref<4x6x6xf32
func.func @whole(%w: tensor<4x6x2xf32>, %dy: tensor<4x4x3xf32>) -> tensor<4x6x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x6x6xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %dx = linalg.generic {indexing_maps = [#w, #y, #x], iterator_types = ["parallel", "reduction", "reduction", "reduction", "parallel"]}
    ins(%w, %dy : tensor<4x6x2xf32>, tensor<4x4x3xf32>) outs(%zeros : tensor<4x6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %b, %a : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6x6xf32>
  %inside = tensor.extract_slice %dx[0, 0, 1] [4, 6, 5] [1, 1, 1] : tensor<4x6x6xf32> to tensor<4x6x5xf32>
  return %inside : tensor<4x6x5xf32>
}

// -----

#x = affine_map<(n, o, f, k, c) -> (n, c, o * 2 + k)>
#w = affine_map<(n, o, f, k, c) -> (f, c, k)>
#y = affine_map<(n, o, f, k, c) -> (n, f, o)>

// A part of the inside.

// CHECK: pipe.convolutions = [{{.*}}padding = array<i64: 1>, {{.*}}x_sizes = array<i64: 5>, x_strides = array<i64: 30, 30, 5, 1>
// CHECK-LABEL: func.func @part
// CHECK-NOT: memref<4x6x6xf32
func.func @part(%w: tensor<4x6x2xf32>, %dy: tensor<4x4x3xf32>) -> (tensor<4x6x5xf32>, tensor<4x5x1xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x6x6xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %dx = linalg.generic {indexing_maps = [#w, #y, #x], iterator_types = ["parallel", "reduction", "reduction", "reduction", "parallel"]}
    ins(%w, %dy : tensor<4x6x2xf32>, tensor<4x4x3xf32>) outs(%zeros : tensor<4x6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %b, %a : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6x6xf32>
  %inside = tensor.extract_slice %dx[0, 0, 1] [4, 6, 5] [1, 1, 1] : tensor<4x6x6xf32> to tensor<4x6x5xf32>
  %part = tensor.extract_slice %inside[0, 1, 2] [4, 5, 1] [1, 1, 1] : tensor<4x6x5xf32> to tensor<4x5x1xf32>
  return %inside, %part : tensor<4x6x5xf32>, tensor<4x5x1xf32>
}

// -----

#x = affine_map<(n, o, f, k, c) -> (n, c, o * 2 + k)>
#w = affine_map<(n, o, f, k, c) -> (f, c, k)>
#y = affine_map<(n, o, f, k, c) -> (n, f, o)>
#i = affine_map<(a, b) -> (a, b)>
#j = affine_map<(a, b) -> (b)>

// A view of it whose type depends on its strides: then the inside is copied.

// CHECK: pipe.convolutions = [{{.*}}padding = array<i64: 1>, {{.*}}x_sizes = array<i64: 5>, x_strides = array<i64: 30, 30, 5, 1>
// CHECK-LABEL: func.func @reshaped
func.func @reshaped(%w: tensor<4x6x2xf32>, %dy: tensor<4x4x3xf32>) -> tensor<5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x6x6xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x6x6xf32>) -> tensor<4x6x6xf32>
  %dx = linalg.generic {indexing_maps = [#w, #y, #x], iterator_types = ["parallel", "reduction", "reduction", "reduction", "parallel"]}
    ins(%w, %dy : tensor<4x6x2xf32>, tensor<4x4x3xf32>) outs(%zeros : tensor<4x6x6xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %b, %a : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x6x6xf32>
  %inside = tensor.extract_slice %dx[0, 0, 1] [4, 6, 5] [1, 1, 1] : tensor<4x6x6xf32> to tensor<4x6x5xf32>
  %rows = tensor.collapse_shape %inside [[0, 1], [2]] : tensor<4x6x5xf32> into tensor<24x5xf32>
  %e = tensor.empty() : tensor<5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %sum = linalg.generic {indexing_maps = [#i, #j], iterator_types = ["reduction", "parallel"]} ins(%rows : tensor<24x5xf32>) outs(%z : tensor<5xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<5xf32>
  return %sum : tensor<5xf32>
}
