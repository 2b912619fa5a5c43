// RUN: veeline-opt %s --pipe-lower-gemms=target=cuda --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-lower-gemms="target=cuda tf32" --split-input-file | FileCheck %s --check-prefix=TF32

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>

// A product of bf16, which the library adds up in f32. A row of three is no
// multiple of 4 bytes, so the second row of the slice starts at one of 2.

// CHECK: pipe.gemms = [{a_strides = array<i64: 5, 1>, alignment = 2 : i64, {{.*}} dtype = bf16, k = 5
// CHECK-NOT: c_dtype
// CHECK-LABEL: func.func @half
// CHECK-NOT: linalg
// CHECK: call @veeline_gemm
// TF32-NOT: tf32
// TF32-LABEL: func.func @half
func.func @half(%rank: !llvm.ptr, %a: memref<4x5xbf16>, %all: memref<6x3xbf16>, %c: memref<4x3xbf16>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : bf16
  %b = memref.subview %all[1, 0] [5, 3] [1, 1] : memref<6x3xbf16> to memref<5x3xbf16, strided<[3, 1], offset: 3>>
  linalg.fill ins(%zero : bf16) outs(%c : memref<4x3xbf16>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xbf16>, memref<5x3xbf16, strided<[3, 1], offset: 3>>) outs(%c : memref<4x3xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %o: bf16):
    %p = arith.mulf %x, %y : bf16
    %r = arith.addf %o, %p : bf16
    linalg.yield %r : bf16
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>

// One of f16 into f32.

// CHECK: pipe.gemms = [{a_strides = array<i64: 5, 1>, alignment = 4 : i64, {{.*}} c_dtype = f32, {{.*}} dtype = f16
// CHECK-LABEL: func.func @to_single
// CHECK-NOT: linalg
// CHECK: call @veeline_gemm
func.func @to_single(%rank: !llvm.ptr, %a: memref<4x5xf16>, %b: memref<5x6xf16>, %c: memref<4x6xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x6xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf16>, memref<5x6xf16>) outs(%c : memref<4x6xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %p = arith.mulf %v, %w : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>

// What is there is added before the sum is rounded.

// CHECK: pipe.gemms = [{{{.*}} c_dtype = f32, {{.*}} dtype = bf16
// CHECK-LABEL: func.func @added
// CHECK-SAME: %[[C:[^:]*]]: memref<4x6xbf16>)
// CHECK: %[[T:.*]] = memref.alloc() : memref<4x6xf32>
// CHECK: call @veeline_gemm
// CHECK: linalg.generic {{.*}} ins(%[[T]] : memref<4x6xf32>) outs(%[[C]] : memref<4x6xbf16>)
// CHECK-NEXT: ^bb0(%[[SUM:.*]]: f32, %[[OLD:.*]]: bf16):
// CHECK-NEXT: %[[WIDE:.*]] = arith.extf %[[OLD]]
// CHECK-NEXT: %[[NEW:.*]] = arith.addf %[[WIDE]], %[[SUM]] : f32
// CHECK-NEXT: arith.truncf %[[NEW]]
func.func @added(%rank: !llvm.ptr, %a: memref<4x5xbf16>, %b: memref<5x6xbf16>, %c: memref<4x6xbf16>)
    attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xbf16>, memref<5x6xbf16>) outs(%c : memref<4x6xbf16>) {
  ^bb0(%x: bf16, %y: bf16, %o: bf16):
    %p = arith.mulf %x, %y : bf16
    %r = arith.addf %o, %p : bf16
    linalg.yield %r : bf16
  }
  return
}

// -----

#mkl = affine_map<(m, k, l, n) -> (m, k, l)>
#kln = affine_map<(m, k, l, n) -> (l, k, n)>
#mn = affine_map<(m, k, l, n) -> (m, n)>

// A sum over two dimensions that are no one of both operands stays a loop, which
// adds up in f32 all the same.

// CHECK-LABEL: func.func @two_sums
// CHECK-SAME: %[[C:[^:]*]]: memref<4x6xf16>)
// CHECK-NOT: call
// CHECK: %[[T:.*]] = memref.alloc() : memref<4x6xf32>
// CHECK: linalg.fill {{.*}} outs(%[[T]]
// CHECK: linalg.generic {{.*}} outs(%[[T]] : memref<4x6xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[T]] : memref<4x6xf32>) outs(%[[C]] : memref<4x6xf16>)
func.func @two_sums(%rank: !llvm.ptr, %a: memref<4x5x3xf16>, %b: memref<3x5x6xf16>, %c: memref<4x6xf16>)
    attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#mkl, #kln, #mn], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5x3xf16>, memref<3x5x6xf16>) outs(%c : memref<4x6xf16>) {
  ^bb0(%x: f16, %y: f16, %o: f16):
    %p = arith.mulf %x, %y : f16
    %r = arith.addf %o, %p : f16
    linalg.yield %r : f16
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>

// Operands of f32 may be rounded to tf32, those of f64 never are.

// CHECK-NOT: tf32
// CHECK-LABEL: func.func @single_and_double
// TF32: pipe.gemms = [{{{.*}} dtype = f32, {{.*}} tf32}, {{{.*}} dtype = f64,
// TF32-NOT: tf32
// TF32-LABEL: func.func @single_and_double
func.func @single_and_double(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x6xf32>, %c: memref<4x6xf32>,
                             %d: memref<4x5xf64>, %e: memref<5x6xf64>, %f: memref<4x6xf64>)
    attributes {pipe.num_results = 2 : i64} {
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x6xf32>) outs(%c : memref<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%d, %e : memref<4x5xf64>, memref<5x6xf64>) outs(%f : memref<4x6xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %p = arith.mulf %x, %y : f64
    %r = arith.addf %o, %p : f64
    linalg.yield %r : f64
  }
  return
}
