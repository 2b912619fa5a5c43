// RUN: veeline-opt %s --pipe-lower-gemms=target=cuda --pipe-fuse-gemm-epilogues --canonicalize --split-input-file | FileCheck %s

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#nk = affine_map<(m, k, n) -> (n, k)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// What GELU is applied to stays for backward: one call stores both.

// CHECK: pipe.gemms = [{{{.*}}epilogue = "bias_gelu_aux"{{.*}}}, {{{.*}}epilogue = "gelu_aux"{{.*}}}]
// CHECK-LABEL: func.func @forward
// CHECK-SAME: %[[RANK:[^:]*]]: !llvm.ptr, %{{.*}}, %[[BIAS:[^:]*]]: memref<16xf32>, %[[PRE:[^:]*]]: memref<4x16xf32> {{{.*}}}, %[[Y:[^:]*]]: memref<4x16xf32>
// CHECK-NOT: memref.alloc
// CHECK: memref.extract_aligned_pointer_as_index %[[BIAS]] {{.*}} {pipe.reads_only}
// CHECK: memref.extract_aligned_pointer_as_index %[[Y]] : memref<4x16xf32> -> index{{$}}
// CHECK: memref.extract_aligned_pointer_as_index %[[PRE]] : memref<4x16xf32> -> index{{$}}
// CHECK: call @veeline_gemm_aux(%[[RANK]], %c0_i32, {{.*}}) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
// CHECK-NOT: linalg
func.func @forward(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %bias: memref<16xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %y: memref<4x16xf32> {pipe.role = #pipe.role<result 0>})
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
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
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

// CHECK-LABEL: func.func @without_bias
// CHECK-SAME: %[[PRE:[^:]*]]: memref<4x16xf32> {{{.*}}}, %[[Y:[^:]*]]: memref<4x16xf32>
// CHECK: %[[NULL:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK: memref.extract_aligned_pointer_as_index %[[Y]] : memref<4x16xf32> -> index{{$}}
// CHECK: memref.extract_aligned_pointer_as_index %[[PRE]] : memref<4x16xf32> -> index{{$}}
// CHECK: %[[AUX:.*]] = llvm.inttoptr
// CHECK: call @veeline_gemm_aux(%{{.*}}, %c1_i32, %{{.*}}, %{{.*}}, %{{.*}}, %[[NULL]], %[[AUX]], %[[NULL]])
// CHECK-NOT: linalg
func.func @without_bias(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %y: memref<4x16xf32> {pipe.role = #pipe.role<result 0>})
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  linalg.fill ins(%zero : f32) outs(%pre : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x16xf32>) outs(%pre : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
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

// The library takes rows of a multiple of 8 elements, and of the result's type.
// What others touch first, or a result where an operand is, stays.

// CHECK: pipe.gemms
// CHECK-NOT: gelu
// CHECK-LABEL: func.func @rows_of_12
// CHECK: call @veeline_gemm_bias(
// CHECK: math.tanh
func.func @rows_of_12(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x12xf32>, %bias: memref<12xf32>, %pre: memref<4x12xf32>, %y: memref<4x12xf32>)
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  %c = memref.alloc() : memref<4x12xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x12xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x12xf32>) outs(%c : memref<4x12xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x12xf32>, memref<12xf32>) outs(%pre : memref<4x12xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %s = arith.addf %i0, %i1 : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre : memref<4x12xf32>) outs(%y : memref<4x12xf32>) {
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

// CHECK-LABEL: func.func @other_type
// CHECK: call @veeline_gemm_bias(
// CHECK: math.tanh
func.func @other_type(%rank: !llvm.ptr, %a: memref<4x5xbf16>, %b: memref<5x16xbf16>, %bias: memref<16xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %y: memref<4x16xbf16>)
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
    ins(%a, %b : memref<4x5xbf16>, memref<5x16xbf16>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: bf16, %z: bf16, %o: f32):
    %wx = arith.extf %x : bf16 to f32
    %wz = arith.extf %z : bf16 to f32
    %p = arith.mulf %wx, %wz : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%pre : memref<4x16xf32>) {
  ^bb0(%i0: f32, %i1: f32, %o: f32):
    %s = arith.addf %i0, %i1 : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre : memref<4x16xf32>) outs(%y : memref<4x16xbf16>) {
  ^bb0(%i0: f32, %o: bf16):
    %1 = arith.mulf %i0, %i0 : f32
    %2 = arith.mulf %1, %i0 : f32
    %3 = arith.mulf %2, %cube : f32
    %4 = arith.addf %i0, %3 : f32
    %5 = arith.mulf %4, %factor : f32
    %6 = math.tanh %5 : f32
    %7 = arith.addf %6, %one : f32
    %8 = arith.mulf %i0, %half : f32
    %9 = arith.mulf %8, %7 : f32
    %small = arith.truncf %9 : f32 to bf16
    linalg.yield %small : bf16
  }
  return
}

// CHECK-LABEL: func.func @read_before
// CHECK: call @veeline_gemm_bias(
// CHECK: memref.copy
// CHECK: math.tanh
func.func @read_before(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %bias: memref<16xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %y: memref<4x16xf32> {pipe.role = #pipe.role<result 0>}, %old: memref<4x16xf32>)
    attributes {pipe.num_results = 3 : i64} {
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
  memref.copy %y, %old : memref<4x16xf32> to memref<4x16xf32>
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
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

// CHECK-LABEL: func.func @written_again
// CHECK: call @veeline_gemm(
// CHECK: memref.copy
// CHECK: math.tanh
func.func @written_again(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %pre: memref<4x16xf32> {pipe.role = #pipe.role<residual 0>}, %y: memref<4x16xf32> {pipe.role = #pipe.role<result 0>}, %other: memref<4x16xf32>)
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  linalg.fill ins(%zero : f32) outs(%pre : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x16xf32>) outs(%pre : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  memref.copy %other, %pre : memref<4x16xf32> to memref<4x16xf32>
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
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

// CHECK-LABEL: func.func @over_an_operand
// CHECK: call @veeline_gemm(
// CHECK: math.tanh
func.func @over_an_operand(%rank: !llvm.ptr, %a: memref<16x16xf32>, %b: memref<16x16xf32>, %pre: memref<16x16xf32>)
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %three = arith.constant 3.0 : f32
  %factor = arith.constant 0.797884583 : f32
  linalg.fill ins(%zero : f32) outs(%pre : memref<16x16xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<16x16xf32>, memref<16x16xf32>) outs(%pre : memref<16x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%pre : memref<16x16xf32>) outs(%a : memref<16x16xf32>) {
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
