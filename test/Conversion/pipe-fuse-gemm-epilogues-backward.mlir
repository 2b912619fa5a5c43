// RUN: veeline-opt %s --pipe-lower-gemms=target=cuda --pipe-fuse-gemm-epilogues --canonicalize --split-input-file | FileCheck %s

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#nk = affine_map<(m, k, n) -> (n, k)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// The derivative of GELU where backward has a product.

// CHECK: pipe.gemms = [{{{.*}}epilogue = "dgelu"{{.*}}}]
// CHECK-LABEL: func.func @backward
// CHECK-SAME: %[[PRE:[^:]*]]: memref<4x16xf32> {{{.*}}}, %[[D:[^:]*]]: memref<4x16xf32>
// CHECK-NOT: memref.alloc
// CHECK: memref.extract_aligned_pointer_as_index %[[D]] : memref<4x16xf32> -> index{{$}}
// CHECK: memref.extract_aligned_pointer_as_index %[[PRE]] {{.*}} {pipe.reads_only}
// CHECK: call @veeline_gemm_aux(
// CHECK-NOT: linalg
func.func @backward(%rank: !llvm.ptr, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %d: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>})
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<16x5xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre, %c : memref<4x16xf32>, memref<4x16xf32>) outs(%d : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %1 = arith.mulf %i0, %i0 : f32
    %2 = arith.mulf %1, %i0 : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %i0, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %i0, %half : f32
    %10 = arith.mulf %7, %half : f32
    %11 = arith.mulf %6, %6 : f32
    %12 = arith.subf %one, %11 : f32
    %13 = arith.mulf %1, %cube : f32
    %14 = arith.mulf %13, %three : f32
    %15 = arith.addf %14, %one : f32
    %16 = arith.mulf %15, %factor : f32
    %17 = arith.mulf %12, %16 : f32
    %18 = arith.mulf %17, %8 : f32
    %19 = arith.addf %10, %18 : f32
    %20 = arith.mulf %19, %i1 : f32
    linalg.yield %20 : f32
  }
  return
}

// The product waits for what GELU was applied to.

// CHECK-LABEL: func.func @before_that_is_there
// CHECK: memref.copy
// CHECK: call @veeline_gemm_aux(
// CHECK-NOT: linalg
func.func @before_that_is_there(%rank: !llvm.ptr, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %d: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>}, %kept: memref<4x16xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<16x5xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  memref.copy %kept, %pre : memref<4x16xf32> to memref<4x16xf32>
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre, %c : memref<4x16xf32>, memref<4x16xf32>) outs(%d : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %1 = arith.mulf %i0, %i0 : f32
    %2 = arith.mulf %1, %i0 : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %i0, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %i0, %half : f32
    %10 = arith.mulf %7, %half : f32
    %11 = arith.mulf %6, %6 : f32
    %12 = arith.subf %one, %11 : f32
    %13 = arith.mulf %1, %cube : f32
    %14 = arith.mulf %13, %three : f32
    %15 = arith.addf %14, %one : f32
    %16 = arith.mulf %15, %factor : f32
    %17 = arith.mulf %12, %16 : f32
    %18 = arith.mulf %17, %8 : f32
    %19 = arith.addf %10, %18 : f32
    %20 = arith.mulf %19, %i1 : f32
    linalg.yield %20 : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#nk = affine_map<(m, k, n) -> (n, k)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// In bf16: the result is rounded once, and what GELU was applied to is of its type.

// CHECK: pipe.gemms = [{{{.*}}dtype = bf16, epilogue = "dgelu"
// CHECK-NOT: c_dtype
// CHECK-LABEL: func.func @small
// CHECK: call @veeline_gemm_aux(
// CHECK-NOT: linalg
func.func @small(%rank: !llvm.ptr, %dy: memref<4x6xbf16> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x6xbf16>, %pre: memref<4x16xbf16> {pipe.role = #pipe.role<residual 0>}, %d: memref<4x16xbf16> {pipe.role = #pipe.role<saved 0>})
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x6xbf16>, memref<16x6xbf16>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: bf16, %z: bf16, %o: f32):
    %wx = arith.extf %x : bf16 to f32
    %wz = arith.extf %z : bf16 to f32
    %p = arith.mulf %wx, %wz : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre, %c : memref<4x16xbf16>, memref<4x16xf32>) outs(%d : memref<4x16xbf16>) {
  ^bb0(%i0: bf16, %i1: f32, %o: bf16):
    %s = arith.extf %i0 : bf16 to f32
    %1 = arith.mulf %s, %s : f32
    %2 = arith.mulf %1, %s : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %s, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %s, %half : f32
    %10 = arith.mulf %7, %half : f32
    %11 = arith.mulf %6, %6 : f32
    %12 = arith.subf %one, %11 : f32
    %13 = arith.mulf %1, %cube : f32
    %14 = arith.mulf %13, %three : f32
    %15 = arith.addf %14, %one : f32
    %16 = arith.mulf %15, %factor : f32
    %17 = arith.mulf %12, %16 : f32
    %18 = arith.mulf %17, %8 : f32
    %19 = arith.addf %10, %18 : f32
    %20 = arith.mulf %19, %i1 : f32
    %small = arith.truncf %20 : f32 to bf16
    linalg.yield %small : bf16
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#nk = affine_map<(m, k, n) -> (n, k)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// Another function, another type, rows of 12, a product that is read twice, a
// result in the place of what GELU was applied to, and an operand that is written in
// between.

// CHECK: pipe.gemms
// CHECK-NOT: gelu
// CHECK-LABEL: func.func @other_derivative
// CHECK: call @veeline_gemm(
// CHECK: math.tanh
func.func @other_derivative(%rank: !llvm.ptr, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %d: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>})
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<16x5xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre, %c : memref<4x16xf32>, memref<4x16xf32>) outs(%d : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %1 = arith.mulf %i0, %i0 : f32
    %2 = arith.mulf %1, %i0 : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %i0, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %i0, %half : f32
    %10 = arith.mulf %7, %half : f32
    %11 = arith.mulf %6, %6 : f32
    %12 = arith.subf %one, %11 : f32
    %13 = arith.mulf %1, %cube : f32
    %14 = arith.mulf %13, %three : f32
    %15 = arith.addf %14, %one : f32
    %16 = arith.mulf %15, %one : f32
    %17 = arith.mulf %12, %16 : f32
    %18 = arith.mulf %17, %8 : f32
    %19 = arith.addf %10, %18 : f32
    %20 = arith.mulf %19, %i1 : f32
    linalg.yield %20 : f32
  }
  return
}

// CHECK-LABEL: func.func @other_type
// CHECK: call @veeline_gemm(
// CHECK: math.tanh
func.func @other_type(%rank: !llvm.ptr, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %pre: memref<4x16xbf16> {pipe.role = #pipe.role<residual 0>}, %d: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>})
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<16x5xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre, %c : memref<4x16xbf16>, memref<4x16xf32>) outs(%d : memref<4x16xf32>) {
  ^bb0(%i0: bf16, %i1: f32, %o: f32):
    %s = arith.extf %i0 : bf16 to f32
    %1 = arith.mulf %s, %s : f32
    %2 = arith.mulf %1, %s : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %s, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %s, %half : f32
    %10 = arith.mulf %7, %half : f32
    %11 = arith.mulf %6, %6 : f32
    %12 = arith.subf %one, %11 : f32
    %13 = arith.mulf %1, %cube : f32
    %14 = arith.mulf %13, %three : f32
    %15 = arith.addf %14, %one : f32
    %16 = arith.mulf %15, %factor : f32
    %17 = arith.mulf %12, %16 : f32
    %18 = arith.mulf %17, %8 : f32
    %19 = arith.addf %10, %18 : f32
    %20 = arith.mulf %19, %i1 : f32
    linalg.yield %20 : f32
  }
  return
}

// CHECK-LABEL: func.func @rows_of_12
// CHECK: call @veeline_gemm(
// CHECK: math.tanh
func.func @rows_of_12(%rank: !llvm.ptr, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<12x5xf32>, %pre: memref<4x12xf32>, %d: memref<4x12xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x12xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x12xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<12x5xf32>) outs(%c : memref<4x12xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre, %c : memref<4x12xf32>, memref<4x12xf32>) outs(%d : memref<4x12xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %1 = arith.mulf %i0, %i0 : f32
    %2 = arith.mulf %1, %i0 : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %i0, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %i0, %half : f32
    %10 = arith.mulf %7, %half : f32
    %11 = arith.mulf %6, %6 : f32
    %12 = arith.subf %one, %11 : f32
    %13 = arith.mulf %1, %cube : f32
    %14 = arith.mulf %13, %three : f32
    %15 = arith.addf %14, %one : f32
    %16 = arith.mulf %15, %factor : f32
    %17 = arith.mulf %12, %16 : f32
    %18 = arith.mulf %17, %8 : f32
    %19 = arith.addf %10, %18 : f32
    %20 = arith.mulf %19, %i1 : f32
    linalg.yield %20 : f32
  }
  return
}

// CHECK-LABEL: func.func @read_twice
// CHECK: call @veeline_gemm(
// CHECK: math.tanh
func.func @read_twice(%rank: !llvm.ptr, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %d: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>}, %copy: memref<4x16xf32>)
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<16x5xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre, %c : memref<4x16xf32>, memref<4x16xf32>) outs(%d : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %1 = arith.mulf %i0, %i0 : f32
    %2 = arith.mulf %1, %i0 : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %i0, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %i0, %half : f32
    %10 = arith.mulf %7, %half : f32
    %11 = arith.mulf %6, %6 : f32
    %12 = arith.subf %one, %11 : f32
    %13 = arith.mulf %1, %cube : f32
    %14 = arith.mulf %13, %three : f32
    %15 = arith.addf %14, %one : f32
    %16 = arith.mulf %15, %factor : f32
    %17 = arith.mulf %12, %16 : f32
    %18 = arith.mulf %17, %8 : f32
    %19 = arith.addf %10, %18 : f32
    %20 = arith.mulf %19, %i1 : f32
    linalg.yield %20 : f32
  }
  memref.copy %c, %copy : memref<4x16xf32> to memref<4x16xf32>
  return
}

// CHECK-LABEL: func.func @in_place
// CHECK: call @veeline_gemm(
// CHECK: math.tanh
func.func @in_place(%rank: !llvm.ptr, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>})
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<16x5xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre, %c : memref<4x16xf32>, memref<4x16xf32>) outs(%pre : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %1 = arith.mulf %i0, %i0 : f32
    %2 = arith.mulf %1, %i0 : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %i0, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %i0, %half : f32
    %10 = arith.mulf %7, %half : f32
    %11 = arith.mulf %6, %6 : f32
    %12 = arith.subf %one, %11 : f32
    %13 = arith.mulf %1, %cube : f32
    %14 = arith.mulf %13, %three : f32
    %15 = arith.addf %14, %one : f32
    %16 = arith.mulf %15, %factor : f32
    %17 = arith.mulf %12, %16 : f32
    %18 = arith.mulf %17, %8 : f32
    %19 = arith.addf %10, %18 : f32
    %20 = arith.mulf %19, %i1 : f32
    linalg.yield %20 : f32
  }
  return
}

// CHECK-LABEL: func.func @operand_written_between
// CHECK: call @veeline_gemm(
// CHECK: math.tanh
func.func @operand_written_between(%rank: !llvm.ptr, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %d: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>}, %other: memref<4x5xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<16x5xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  memref.copy %other, %dy : memref<4x5xf32> to memref<4x5xf32>
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre, %c : memref<4x16xf32>, memref<4x16xf32>) outs(%d : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %1 = arith.mulf %i0, %i0 : f32
    %2 = arith.mulf %1, %i0 : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %i0, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %i0, %half : f32
    %10 = arith.mulf %7, %half : f32
    %11 = arith.mulf %6, %6 : f32
    %12 = arith.subf %one, %11 : f32
    %13 = arith.mulf %1, %cube : f32
    %14 = arith.mulf %13, %three : f32
    %15 = arith.addf %14, %one : f32
    %16 = arith.mulf %15, %factor : f32
    %17 = arith.mulf %12, %16 : f32
    %18 = arith.mulf %17, %8 : f32
    %19 = arith.addf %10, %18 : f32
    %20 = arith.mulf %19, %i1 : f32
    linalg.yield %20 : f32
  }
  return
}
