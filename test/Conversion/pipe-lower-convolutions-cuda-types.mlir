// RUN: veeline-opt %s --pipe-lower-convolutions=target=cuda --split-input-file | FileCheck %s
// RUN: sed s/bf16/f16/g %s | veeline-opt --pipe-lower-convolutions=target=cuda --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-lower-convolutions --split-input-file | FileCheck %s --check-prefix=HOST

// The library takes bf16; products are added up in f32 and rounded when they are copied to y.

#x = affine_map<(n, o, f, k, c) -> (n, o + k, c)>
#w = affine_map<(n, o, f, k, c) -> (k, c, f)>
#y = affine_map<(n, o, f, k, c) -> (n, o, f)>

// CHECK:      pipe.convolutions = [{batch = 2 : i64, dilations = array<i64: 1>, dtype = [[T:b?f16]], groups = 1 : i64
// CHECK-NOT:  tf32
// CHECK-SAME: pipe.gemms = [{a_strides = array<i64: 16, 1>, alignment = 16 : i64, b_strides = array<i64: 5, 1>, batch = array<i64>, c_dtype = f32, c_strides = array<i64: 5, 1>, dtype = [[T]]
// CHECK-SAME: {a_strides = array<i64: 16, 1>, accumulate, {{.*}} c_dtype = f32,
// CHECK-LABEL: func.func @windows
// CHECK:      scf.if
// CHECK-NOT:    memref.alloc
// CHECK:        memref.extract_aligned_pointer_as_index %arg1
// CHECK:        func.call @veeline_convolution(
// CHECK:      } else {
// CHECK-NEXT:   %[[ROWS:.*]] = memref.alloc() : memref<2x4x1x5xf32>
// CHECK:        func.call @veeline_gemm(
// CHECK:        func.call @veeline_gemm(
// CHECK:        linalg.generic {{.*}} outs(%{{.*}} : memref<2x3x1x5x[[T]], strided<{{.*}}>>)
// CHECK:          arith.truncf
// HOST-LABEL: func.func @windows
// HOST-NOT:   call
// HOST:       linalg.generic
func.func @windows(%rank: !llvm.ptr, %x: memref<2x4x16xbf16>, %w: memref<2x16x5xbf16>, %y: memref<2x3x5xbf16>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : bf16
  linalg.fill ins(%zero : bf16) outs(%y : memref<2x3x5xbf16>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %w : memref<2x4x16xbf16>, memref<2x16x5xbf16>) outs(%y : memref<2x3x5xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %m = arith.mulf %a, %b : bf16
    %s = arith.addf %c, %m : bf16
    linalg.yield %s : bf16
  }
  return
}

// -----

// A result of f32: the library gets both factors extended, in an order that it takes, and multiplies in tf32, where they are what they were. Products
// take them as they are.

#x = affine_map<(n, o, f, k, c) -> (n, o + k, c)>
#w = affine_map<(n, o, f, k, c) -> (k, c, f)>
#y = affine_map<(n, o, f, k, c) -> (n, o, f)>

// CHECK:      pipe.convolutions = [{batch = 2 : i64
// CHECK-NOT:  dtype
// CHECK-SAME: tf32, w_sizes = array<i64: 2>, w_strides = array<i64: 160, 32, 1, 16>
// CHECK-SAME: pipe.gemms = [{{.*}} c_dtype = f32, {{.*}} dtype = [[T:b?f16]]
// CHECK-LABEL: func.func @into_f32
// CHECK:      scf.if
// CHECK:        %[[X:.*]] = memref.alloc() : memref<128xf32>
// CHECK:        linalg.generic {{.*}} ins(%{{.*}} : memref<2x1x16x4x[[T]], strided<{{.*}}>>)
// CHECK:          arith.extf
// CHECK:        %[[W:.*]] = memref.alloc() : memref<160xf32>
// CHECK:        linalg.generic
// CHECK:          arith.extf
// CHECK:        memref.extract_aligned_pointer_as_index %[[X]]
// CHECK:        memref.extract_aligned_pointer_as_index %[[W]]
// CHECK:        func.call @veeline_convolution(
// CHECK:      } else {
// CHECK-NOT:    arith.extf
// CHECK:        func.call @veeline_gemm(
func.func @into_f32(%rank: !llvm.ptr, %x: memref<2x4x16xbf16>, %w: memref<2x16x5xbf16>, %y: memref<2x3x5xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<2x3x5xf32>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %w : memref<2x4x16xbf16>, memref<2x16x5xbf16>) outs(%y : memref<2x3x5xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %ae = arith.extf %a : bf16 to f32
    %be = arith.extf %b : bf16 to f32
    %m = arith.mulf %ae, %be : f32
    %s = arith.addf %c, %m : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// What is in the result already is added to a sum that is not rounded before.

#x = affine_map<(n, o, f, k, c) -> (n, o + k, c)>
#w = affine_map<(n, o, f, k, c) -> (k, c, f)>
#y = affine_map<(n, o, f, k, c) -> (n, o, f)>

// CHECK-LABEL: func.func @added
// CHECK:      %[[SUM:.*]] = memref.alloc() : memref<2x3x5xf32>
// CHECK:      scf.if
// CHECK:      linalg.generic {{.*}} ins(%[[SUM]] : memref<2x3x5xf32>) outs(%arg3
// CHECK:        arith.extf
// CHECK:        arith.addf
// CHECK:        arith.truncf
func.func @added(%rank: !llvm.ptr, %x: memref<2x4x16xbf16>, %w: memref<2x16x5xbf16>, %y: memref<2x3x5xbf16>)
    attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %w : memref<2x4x16xbf16>, memref<2x16x5xbf16>) outs(%y : memref<2x3x5xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %m = arith.mulf %a, %b : bf16
    %s = arith.addf %c, %m : bf16
    linalg.yield %s : bf16
  }
  return
}

// -----

// Where a place is only known when the program runs, a loop is left, which adds up in f32, too.

#x = affine_map<(n, o, f, k, c) -> (n, o + k, c)>
#w = affine_map<(n, o, f, k, c) -> (k, c, f)>
#y = affine_map<(n, o, f, k, c) -> (n, o, f)>

// CHECK-LABEL: func.func @loop
// CHECK-NOT:  call @
// CHECK:      %[[SUM:.*]] = memref.alloc() : memref<2x3x5xf32>
// CHECK:      linalg.generic {{.*}} outs(%[[SUM]] : memref<2x3x5xf32>)
// CHECK:        arith.extf
// CHECK:        arith.mulf %{{.*}} : f32
// CHECK:      linalg.generic {{.*}} ins(%[[SUM]] :
// CHECK:        arith.truncf
func.func @loop(%rank: !llvm.ptr, %all: memref<9x4x16xbf16>, %i: index, %w: memref<2x16x5xbf16>, %y: memref<2x3x5xbf16>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : bf16
  %x = memref.subview %all[%i, 0, 0] [2, 4, 16] [1, 1, 1] : memref<9x4x16xbf16> to memref<2x4x16xbf16, strided<[64, 16, 1], offset: ?>>
  linalg.fill ins(%zero : bf16) outs(%y : memref<2x3x5xbf16>)
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
    ins(%x, %w : memref<2x4x16xbf16, strided<[64, 16, 1], offset: ?>>, memref<2x16x5xbf16>) outs(%y : memref<2x3x5xbf16>) {
  ^bb0(%a: bf16, %b: bf16, %c: bf16):
    %m = arith.mulf %a, %b : bf16
    %s = arith.addf %c, %m : bf16
    linalg.yield %s : bf16
  }
  return
}
