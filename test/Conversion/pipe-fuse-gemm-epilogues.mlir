// RUN: veeline-opt %s --pipe-lower-gemms=target=cuda --pipe-fuse-gemm-epilogues --canonicalize --split-input-file | FileCheck %s

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>

// A gradient is added to where it is added up; there is no temporary and no entry
// of a product alone.

// CHECK: pipe.gemms = [{{{.*}}accumulate, alignment = 8 : i64,{{[^{]*}}}]
// CHECK-LABEL: func.func @gradient
// CHECK-SAME: %[[RANK:[^:]*]]: !llvm.ptr, {{.*}}, %[[GRAD:[^:]*]]: memref<4x6xf32> {pipe.role
// CHECK-NOT: memref.alloc
// CHECK: memref.extract_aligned_pointer_as_index %[[GRAD]]
// CHECK: call @veeline_gemm(
// CHECK-NOT: linalg
func.func @gradient(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x6xf32>, %grad: memref<4x6xf32> {pipe.role = #pipe.role<param_grad 0>})
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x6xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x6xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x6xf32>) outs(%c : memref<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c : memref<4x6xf32>) outs(%grad : memref<4x6xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %o, %x : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>

// What a product starts from is the same, unless an operand is there.

// CHECK: pipe.gemms = [{{{.*}}accumulate{{.*}}}, {a_strides{{[^{]*}}}]
// CHECK-NOT: accumulate
// CHECK-LABEL: func.func @started
// CHECK-SAME: %[[RANK:[^:]*]]: !llvm.ptr, %[[A:[^:]*]]: memref<6x6xf32>, %[[B:[^:]*]]: memref<6x6xf32>, %[[C:[^:]*]]: memref<6x6xf32>
// CHECK: memref.extract_aligned_pointer_as_index %[[C]]
// CHECK: call @veeline_gemm(
// CHECK: %[[TEMP:.*]] = memref.alloc()
// CHECK: memref.extract_aligned_pointer_as_index %[[TEMP]]
// CHECK: call @veeline_gemm(
// CHECK: linalg.generic {{.*}} ins(%[[TEMP]] : memref<6x6xf32>) outs(%[[A]] : memref<6x6xf32>)
func.func @started(%rank: !llvm.ptr, %a: memref<6x6xf32>, %b: memref<6x6xf32>, %c: memref<6x6xf32>)
    attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<6x6xf32>, memref<6x6xf32>) outs(%c : memref<6x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<6x6xf32>, memref<6x6xf32>) outs(%a : memref<6x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// A bias; not one of rows. Functions that compute gradients have it, too.

// CHECK: pipe.gemms = [{{{.*}}epilogue = "bias"{{.*}}}, {a_strides{{[^{]*}}}]
// CHECK-LABEL: func.func @bias
// CHECK-SAME: %[[RANK:[^:]*]]: !llvm.ptr, {{.*}}, %[[BIAS:[^:]*]]: memref<4xf32>, %[[Y:[^:]*]]: memref<4x4xf32>)
// CHECK-NOT: memref.alloc
// CHECK: memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: memref.extract_aligned_pointer_as_index %[[BIAS]] {{.*}} {pipe.reads_only}
// CHECK: call @veeline_gemm_bias(%[[RANK]], %c0_i32, {{.*}}) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
// CHECK-NOT: linalg
func.func @bias(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x4xf32>, %bias: memref<4xf32>, %y: memref<4x4xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x4xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x4xf32>) outs(%c : memref<4x4xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#j, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%bias, %c : memref<4xf32>, memref<4x4xf32>) outs(%y : memref<4x4xf32>) {
  ^bb0(%v: f32, %x: f32, %o: f32):
    %s = arith.addf %x, %v : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @of_rows
// CHECK: call @veeline_gemm(
// CHECK: linalg.generic
func.func @of_rows(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x4xf32>, %bias: memref<4xf32>, %y: memref<4x4xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x4xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x4xf32>) outs(%c : memref<4x4xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, affine_map<(i, j) -> (i)>, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x4xf32>, memref<4xf32>) outs(%y : memref<4x4xf32>) {
  ^bb0(%x: f32, %v: f32, %o: f32):
    %s = arith.addf %x, %v : f32
    linalg.yield %s : f32
  }
  return
}

// CHECK-LABEL: func.func @again
// CHECK: call @veeline_gemm_bias(
// CHECK-NOT: linalg
func.func @again(%rank: !llvm.ptr, %a: memref<4x5xf32> {pipe.role = #pipe.role<result_grad 0>}, %b: memref<5x4xf32>, %bias: memref<4xf32>, %y: memref<4x4xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x4xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x4xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x4xf32>) outs(%c : memref<4x4xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x4xf32>, memref<4xf32>) outs(%y : memref<4x4xf32>) {
  ^bb0(%x: f32, %v: f32, %o: f32):
    %s = arith.addf %x, %v : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// GELU of a product and a bias, in bf16, which is rounded once: the bias is that of
// the result, and so is what GELU is applied to, which nobody else reads.

// CHECK: pipe.gemms = [{{{.*}}dtype = bf16, epilogue = "bias_gelu_aux"
// CHECK-NOT: c_dtype
// CHECK-LABEL: func.func @gelu
// CHECK-SAME: %[[BIAS:[^:]*]]: memref<8xf32>, %[[Y:[^:]*]]: memref<4x8xbf16>)
// CHECK: %[[SMALL:.*]] = memref.alloc() : memref<8xbf16>
// CHECK: linalg.generic {{.*}} ins(%[[BIAS]] : memref<8xf32>) outs(%[[SMALL]] : memref<8xbf16>)
// CHECK: %[[AUX:.*]] = memref.alloc() : memref<4x8xbf16>
// CHECK: memref.extract_aligned_pointer_as_index %[[Y]] : memref<4x8xbf16> -> index{{$}}
// CHECK: memref.extract_aligned_pointer_as_index %[[SMALL]] {{.*}} {pipe.reads_only}
// CHECK: memref.extract_aligned_pointer_as_index %[[AUX]] : memref<4x8xbf16> -> index{{$}}
// CHECK: call @veeline_gemm_aux(
// CHECK-NOT: linalg
func.func @gelu(%rank: !llvm.ptr, %a: memref<4x6xbf16>, %b: memref<6x8xbf16>, %bias: memref<8xf32>, %y: memref<4x8xbf16>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x8xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x8xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x6xbf16>, memref<6x8xbf16>) outs(%c : memref<4x8xf32>) {
  ^bb0(%x: bf16, %z: bf16, %o: f32):
    %u = arith.extf %x : bf16 to f32
    %w = arith.extf %z : bf16 to f32
    %p = arith.mulf %u, %w : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %cube = arith.constant 4.471500e-02 : f32
  %factor = arith.constant 0.797884583 : f32
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x8xf32>, memref<8xf32>) outs(%y : memref<4x8xbf16>) {
  ^bb0(%x: f32, %v: f32, %o: bf16):
    %s = arith.addf %x, %v : f32
    %2 = arith.mulf %s, %s : f32
    %3 = arith.mulf %2, %s : f32
    %4 = arith.mulf %3, %cube : f32
    %5 = arith.addf %s, %4 : f32
    %6 = arith.mulf %5, %factor : f32
    %7 = math.tanh %6 : f32
    %8 = arith.addf %7, %one : f32
    %9 = arith.mulf %s, %half : f32
    %10 = arith.mulf %9, %8 : f32
    %11 = arith.truncf %10 : f32 to bf16
    linalg.yield %11 : bf16
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>

// GELU by erf is another function, as is a tanh alone.

// CHECK: pipe.gemms
// CHECK-NOT: epilogue
// CHECK-LABEL: func.func @other_functions
// CHECK: call @veeline_gemm(
// CHECK: linalg.generic
// CHECK: call @veeline_gemm(
// CHECK: linalg.generic
func.func @other_functions(%rank: !llvm.ptr, %a: memref<3x5xf32>, %b: memref<5x4xf32>, %y: memref<3x4xf32>, %w: memref<3x4xf32>)
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<3x4xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<3x4xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<3x5xf32>, memref<5x4xf32>) outs(%c : memref<3x4xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c : memref<3x4xf32>) outs(%y : memref<3x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %t = math.tanh %x : f32
    linalg.yield %t : f32
  }
  %d = memref.alloc() : memref<3x4xf32>
  linalg.fill ins(%zero : f32) outs(%d : memref<3x4xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<3x5xf32>, memref<5x4xf32>) outs(%d : memref<3x4xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.707106769 : f32
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%d : memref<3x4xf32>) outs(%w : memref<3x4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.mulf %x, %root : f32
    %2 = math.erf %1 : f32
    %3 = arith.addf %2, %one : f32
    %4 = arith.mulf %x, %half : f32
    %5 = arith.mulf %3, %4 : f32
    linalg.yield %5 : f32
  }
  return
}

// -----

// Two products in one buffer, one after the other, whose calls share the op that
// takes its address: what is read is the second one.

// CHECK-LABEL: func.func @two_in_one
// CHECK-SAME: %[[GRAD:[^:]*]]: memref<4x6xf32> {pipe.role
// CHECK: %[[TEMP:.*]] = memref.alloc()
// CHECK-NOT: %[[GRAD]]
// CHECK: call @veeline_gemm(
// CHECK-NOT: %[[GRAD]]
// CHECK: call @veeline_gemm(
// CHECK-NEXT: linalg.generic {{.*}} ins(%[[TEMP]] : memref<4x6xf32>) outs(%[[GRAD]] : memref<4x6xf32>)
module attributes {pipe.gemms = [{a_strides = array<i64: 5, 1>, alignment = 16 : i64, b_strides = array<i64: 6, 1>, batch = array<i64>, c_strides = array<i64: 6, 1>, dtype = f32, k = 5 : i64, m = 4 : i64, n = 6 : i64, scratch_bytes = 0 : i64}]} {
  func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)
  func.func @two_in_one(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x6xf32>, %grad: memref<4x6xf32> {pipe.role = #pipe.role<param_grad 0>})
      attributes {pipe.num_results = 1 : i64} {
    %0 = arith.constant 0 : i32
    %null = llvm.mlir.zero : !llvm.ptr
    %c = memref.alloc() : memref<4x6xf32>
    %ia = memref.extract_aligned_pointer_as_index %a : memref<4x5xf32> -> index {pipe.reads_only}
    %la = arith.index_cast %ia : index to i64
    %pa = llvm.inttoptr %la : i64 to !llvm.ptr
    %ib = memref.extract_aligned_pointer_as_index %b : memref<5x6xf32> -> index {pipe.reads_only}
    %lb = arith.index_cast %ib : index to i64
    %pb = llvm.inttoptr %lb : i64 to !llvm.ptr
    %ic = memref.extract_aligned_pointer_as_index %c : memref<4x6xf32> -> index
    %lc = arith.index_cast %ic : index to i64
    %pc = llvm.inttoptr %lc : i64 to !llvm.ptr
    call @veeline_gemm(%rank, %0, %pa, %pb, %pc, %null) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    call @veeline_gemm(%rank, %0, %pa, %pb, %pc, %null) : (!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr) -> ()
    linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%c : memref<4x6xf32>) outs(%grad : memref<4x6xf32>) {
    ^bb0(%x: f32, %o: f32):
      %s = arith.addf %o, %x : f32
      linalg.yield %s : f32
    }
    return
  }
}
