// RUN: veeline-opt %s --pipe-lower-gemms=target=cuda --pipe-fuse-gemm-epilogues --canonicalize --split-input-file | FileCheck %s

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#nk = affine_map<(m, k, n) -> (n, k)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// Where forward is computed again, several ops add the bias: the library does.

// CHECK: pipe.gemms = [{{{.*}}epilogue = "bias_gelu_aux"{{.*}}}, {{{.*}}epilogue = "dgelu"{{.*}}}]
// CHECK-LABEL: func.func @recompute
// CHECK-SAME: %[[BIAS:[^:]*]]: memref<16xf32>, %[[DY:[^:]*]]: memref<4x5xf32> {{{.*}}}, %{{.*}}, %[[G:[^:]*]]: memref<4x16xf32> {{{.*}}}, %[[D:[^:]*]]: memref<4x16xf32>
// CHECK: %[[PRE:.*]] = memref.alloc() : memref<4x16xf32>
// CHECK: memref.extract_aligned_pointer_as_index %[[BIAS]] {{.*}} {pipe.reads_only}
// CHECK: memref.extract_aligned_pointer_as_index %[[G]] : memref<4x16xf32> -> index{{$}}
// CHECK: memref.extract_aligned_pointer_as_index %[[PRE]] : memref<4x16xf32> -> index{{$}}
// CHECK: call @veeline_gemm_aux(%{{.*}}, %c0_i32,
// CHECK: memref.extract_aligned_pointer_as_index %[[D]] : memref<4x16xf32> -> index{{$}}
// CHECK: memref.extract_aligned_pointer_as_index %[[PRE]] {{.*}} {pipe.reads_only}
// CHECK: call @veeline_gemm_aux(%{{.*}}, %c1_i32,
// CHECK-NOT: linalg
func.func @recompute(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %bias: memref<16xf32>, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %g: memref<4x16xf32> {pipe.role = #pipe.role<saved 1>}, %d: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>})
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x16xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%g : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %s = arith.addf %i0, %i1 : f32
    %1 = arith.mulf %s, %s : f32
    %2 = arith.mulf %1, %s : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %s, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %s, %half : f32
    %9 = arith.mulf %8, %7 : f32
    linalg.yield %9 : f32
  }
  %e = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%e : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<16x5xf32>) outs(%e : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias, %e : memref<4x16xf32>, memref<16xf32>, memref<4x16xf32>) outs(%d : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %o: f32):
    %s = arith.addf %i0, %i1 : f32
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
    %20 = arith.mulf %19, %i2 : f32
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

// One half of that backward needs the derivative alone, and the other half applies
// GELU itself to what is kept for it: in both, and in the whole, GELU is a kernel.

// CHECK: pipe.gemms = [{{{.*}}epilogue = "bias"{{.*}}}, {{{.*}}epilogue = "dgelu"{{.*}}}]
// CHECK-LABEL: func.func @whole
// CHECK: call @veeline_gemm_bias(%{{.*}}, %c0_i32,
// CHECK: linalg.generic {{.*}} ins(%{{[^,]*}} : memref<4x16xf32>)
// CHECK-NOT: arith.addf %{{.*}}, %cst
// CHECK: math.tanh
// CHECK: call @veeline_gemm_aux(%{{.*}}, %c1_i32,
// CHECK-NOT: linalg
func.func @whole(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %bias: memref<16xf32>, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %g: memref<4x16xf32> {pipe.role = #pipe.role<saved 1>}, %d: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>})
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x16xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%g : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %s = arith.addf %i0, %i1 : f32
    %1 = arith.mulf %s, %s : f32
    %2 = arith.mulf %1, %s : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %s, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %s, %half : f32
    %9 = arith.mulf %8, %7 : f32
    linalg.yield %9 : f32
  }
  %e = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%e : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<16x5xf32>) outs(%e : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias, %e : memref<4x16xf32>, memref<16xf32>, memref<4x16xf32>) outs(%d : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %i2: f32, %o: f32):
    %s = arith.addf %i0, %i1 : f32
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
    %20 = arith.mulf %19, %i2 : f32
    linalg.yield %20 : f32
  }
  return
}

// CHECK-LABEL: func.func @of_operands
// CHECK: call @veeline_gemm_bias(%{{.*}}, %c0_i32,
// CHECK: call @veeline_gemm_aux(%{{.*}}, %c1_i32,
// CHECK-NOT: linalg
func.func @of_operands(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %bias: memref<16xf32>, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>}, %d: memref<4x16xf32> {pipe.role = #pipe.role<saved 1>})
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x16xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%pre : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %s = arith.addf %i0, %i1 : f32
    linalg.yield %s : f32
  }
  %e = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%e : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%dy, %w : memref<4x5xf32>, memref<16x5xf32>) outs(%e : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre, %e : memref<4x16xf32>, memref<4x16xf32>) outs(%d : memref<4x16xf32>) {
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

// CHECK-LABEL: func.func @of_weights
// CHECK: math.tanh
func.func @of_weights(%rank: !llvm.ptr, %pre: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>}, %g: memref<4x16xf32> {pipe.role = #pipe.role<param_grad 0>})
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre : memref<4x16xf32>) outs(%g : memref<4x16xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %1 = arith.mulf %i0, %i0 : f32
    %2 = arith.mulf %1, %i0 : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %i0, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %i0, %half : f32
    %9 = arith.mulf %8, %7 : f32
    linalg.yield %9 : f32
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

// A product of which one of two backward functions cannot have the derivative has
// none in the other one either.

// CHECK: pipe.gemms
// CHECK-NOT: gelu
// CHECK-LABEL: func.func @can
// CHECK: call @veeline_gemm(
// CHECK: math.tanh
func.func @can(%rank: !llvm.ptr, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %d: memref<4x16xf32> {pipe.role = #pipe.role<saved 0>})
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

// CHECK-LABEL: func.func @cannot
// CHECK: call @veeline_gemm(
// CHECK: math.tanh
func.func @cannot(%rank: !llvm.ptr, %dy: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %w: memref<16x5xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>})
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
