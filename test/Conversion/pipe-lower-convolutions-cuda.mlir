// RUN: veeline-opt %s --pipe-lower-convolutions=target=cuda --split-input-file | FileCheck %s
// RUN: veeline-opt %s "--pipe-lower-convolutions=target=cuda tf32=1" --split-input-file | FileCheck %s --check-prefix=TF32

// In tf32 either way, but where kernels compute.
// TF32:      pipe.convolutions = [{{.*}} tf32,
// TF32-SAME: pipe.gemms = [{{.*}}, tf32}, {{.*}}, tf32}]
// TF32:      func.func @windows
// TF32:      pipe.convolutions = [{{.*}} tf32,
// TF32-SAME: pipe.gemms = [{{.*}}, tf32}]
// TF32:      func.func @matrix

// A product for each element of the window: the first one overwrites, the other adds. x is copied with its zeros (row 0 of each sample), and of
// the rows of the products each third one is none.

#x = affine_map<(n, o, f, k, c) -> (n, o + k, c)>
#w = affine_map<(n, o, f, k, c) -> (k, c, f)>
#y = affine_map<(n, o, f, k, c) -> (n, o, f)>

// CHECK:      module attributes {pipe.convolutions = [{batch = 2 : i64
// CHECK-SAME: padding = array<i64: 1>
// CHECK-SAME: pipe.gemms = [{a_strides = array<i64: 16, 1>, alignment = 16 : i64, b_strides = array<i64: 5, 1>, batch = array<i64>, c_strides = array<i64: 5, 1>, dtype = f32, k = 16 : i64, m = 7 : i64, n = 5 : i64, scratch_bytes = 0 : i64},
// CHECK-SAME:   {a_strides = array<i64: 16, 1>, accumulate, alignment = 16 : i64, b_strides = array<i64: 5, 1>, batch = array<i64>, c_strides = array<i64: 5, 1>, dtype = f32, k = 16 : i64, m = 7 : i64, n = 5 : i64, scratch_bytes = 0 : i64}]}
// CHECK: func.func private @veeline_has_convolution(!llvm.ptr, i32) -> i32
// CHECK-LABEL: func.func @windows
// CHECK:      %[[THERE:.*]] = call @veeline_has_convolution(%arg0, %{{.*}}) : (!llvm.ptr, i32) -> i32
// CHECK:      %[[CHOICE:.*]] = arith.cmpi ne, %[[THERE]]
// CHECK-NEXT: scf.if %[[CHOICE]] {
// CHECK:        func.call @veeline_convolution(
// CHECK:      } else {
// CHECK:        %[[IMAGE:.*]] = memref.alloc() : memref<1x2x4x1x16xf32>
// CHECK:        linalg.fill
// CHECK:        linalg.generic
// CHECK:        %[[ROWS:.*]] = memref.alloc() : memref<2x4x1x5xf32>
// CHECK:        memref.extract_aligned_pointer_as_index %[[IMAGE]]
// CHECK:        func.call @veeline_gemm(
// CHECK:        memref.extract_aligned_pointer_as_index %[[IMAGE]]
// CHECK:        %[[NEXT:.*]] = arith.constant 64 : index
// CHECK:        func.call @veeline_gemm(
// CHECK-NOT:    func.call
// CHECK:        memref.reinterpret_cast %[[ROWS]] to offset: [0], sizes: [2, 3, 1, 5], strides: [20, 5, 5, 1]
// CHECK:        linalg.generic
// CHECK:      }
func.func @windows(%rank: !llvm.ptr, %x: memref<2x3x16xf32>, %w: memref<2x16x5xf32>, %y: memref<2x3x5xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %p = memref.alloc() : memref<2x4x16xf32>
  linalg.fill ins(%zero : f32) outs(%p : memref<2x4x16xf32>)
  %inside = memref.subview %p[0, 1, 0] [2, 3, 16] [1, 1, 1] : memref<2x4x16xf32> to memref<2x3x16xf32, strided<[64, 16, 1], offset: 16>>
  memref.copy %x, %inside : memref<2x3x16xf32> to memref<2x3x16xf32, strided<[64, 16, 1], offset: 16>>
  linalg.fill ins(%zero : f32) outs(%y : memref<2x3x5xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%p, %w : memref<2x4x16xf32>, memref<2x16x5xf32>) outs(%y : memref<2x3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Few channels: one product of what windows see.

#x = affine_map<(n, o, f, k, c) -> (n, o * 2 + k, c)>
#w = affine_map<(n, o, f, k, c) -> (k, c, f)>
#y = affine_map<(n, o, f, k, c) -> (n, o, f)>

// CHECK:      pipe.gemms = [{a_strides = array<i64: 9, 1>
// CHECK-SAME: k = 9 : i64, m = 4 : i64, n = 5 : i64
// CHECK-LABEL: func.func @matrix
// CHECK:      } else {
// CHECK-NEXT:   %[[MATRIX:.*]] = memref.alloc() : memref<2x2x3x1x3xf32>
// CHECK-NEXT:   %[[SEEN:.*]] = memref.reinterpret_cast %arg1 to offset: [0], sizes: [2, 2, 3, 1, 3], strides: [15, 6, 3, 3, 1]
// CHECK:        linalg.generic {{.*}} ins(%[[SEEN]]
// CHECK-COUNT-1: func.call @veeline_gemm(
// CHECK-NOT:    linalg.generic
// CHECK:      return
func.func @matrix(%rank: !llvm.ptr, %x: memref<2x5x3xf32>, %w: memref<3x3x5xf32>, %y: memref<2x2x5xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<2x2x5xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %w : memref<2x5x3xf32>, memref<3x3x5xf32>) outs(%y : memref<2x2x5xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// Groups of one channel: the products are written out, here of the gradient of x in two parts, since windows step by two. No matrix products.

#x = affine_map<(n, o, g, k) -> (n, o * 2 + k, g)>
#w = affine_map<(n, o, g, k) -> (k, g)>
#y = affine_map<(n, o, g, k) -> (n, o, g)>

// CHECK-NOT:  pipe.gemms
// CHECK-LABEL: func.func @depthwise
// CHECK:      } else {
// CHECK:        %[[Y:.*]] = memref.alloc() : memref<2x4x8x1xf32>
// CHECK:        %[[FIRST:.*]] = memref.reinterpret_cast %[[Y]] to offset: [8], sizes: [2, 3, 8]
// CHECK:        %[[SECOND:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [2, 3, 8]
// CHECK:        %[[EVEN:.*]] = memref.reinterpret_cast %arg3 to offset: [0], sizes: [2, 3, 8], strides: [40, 16, 1]
// CHECK:        linalg.generic {{.*}} ins(%[[FIRST]], %{{.*}}, %[[SECOND]], %{{.*}} outs(%[[EVEN]]
// CHECK:        %[[ODD:.*]] = memref.reinterpret_cast %arg3 to offset: [8], sizes: [2, 2, 8], strides: [40, 16, 1]
// CHECK:        linalg.generic {{.*}} outs(%[[ODD]]
// CHECK-NOT:    linalg.generic
// CHECK:      return
func.func @depthwise(%rank: !llvm.ptr, %y: memref<2x2x8xf32>, %w: memref<3x8xf32>, %x: memref<2x5x8xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%x : memref<2x5x8xf32>)
  linalg.generic {indexing_maps = [#y, #w, #x], iterator_types = ["parallel", "reduction", "parallel", "reduction"]}
    ins(%y, %w : memref<2x2x8xf32>, memref<3x8xf32>) outs(%x : memref<2x5x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  return
}
