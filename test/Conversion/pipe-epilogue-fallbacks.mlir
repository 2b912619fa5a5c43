// RUN: veeline-opt %s --pipe-lower-gemms=target=cuda --pipe-fuse-gemm-epilogues --pipe-epilogue-fallbacks --canonicalize | FileCheck %s

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// The library adds the bias, or the product goes to the same place and an op adds it there.

// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK: pipe.gemms = [{{{.*}}epilogue = "bias"{{.*}}}, {{{[^}]*accumulate[^}]*}}}, {a_strides = array<i64: 5, 1>, alignment = 8 : i64, b_strides = array<i64: 16, 1>, batch = array<i64>, c_strides = array<i64: 16, 1>, dtype = bf16, k = 5 : i64, m = 4 : i64, n = 16 : i64, scratch_bytes = 0 : i64}]
// CHECK-LABEL: func.func @bias
// CHECK-SAME: %[[RANK:[^:]*]]: !llvm.ptr, %{{.*}}: memref<4x5xbf16>, %{{.*}}: memref<5x16xbf16>, %[[BIAS:[^:]*]]: memref<16xbf16>, %[[Y:[^:]*]]: memref<4x16xbf16>
// CHECK-NOT: memref.alloc
// CHECK: %[[THERE:.*]] = call @veeline_has_gemm(%[[RANK]], %c0_i32) : (!llvm.ptr, i32) -> i32
// CHECK: %[[IS:.*]] = arith.cmpi ne, %[[THERE]], %c0_i32
// CHECK: scf.if %[[IS]]
// CHECK-NEXT: call @veeline_gemm_bias(%[[RANK]], %c0_i32, %[[A:[^,]*]], %[[B:[^,]*]], %[[C:[^,]*]], %{{[^,]*}}, %[[NONE:[^,)]*]])
// CHECK-NEXT: else
// CHECK-NEXT: call @veeline_gemm(%[[RANK]], %c2_i32, %[[A]], %[[B]], %[[C]], %[[NONE]])
// CHECK-NEXT: linalg.generic {indexing_maps = [#[[COLUMN]], #[[ALL]]], {{.*}}} ins(%[[BIAS]] : memref<16xbf16>) outs(%{{.*}} : memref<4x16xbf16>)
// CHECK-NEXT: ^bb0(%[[B0:.*]]: bf16, %[[P0:.*]]: bf16):
// CHECK-DAG: %[[B1:.*]] = arith.extf %[[B0]]
// CHECK-DAG: %[[P1:.*]] = arith.extf %[[P0]]
// CHECK: %[[SUM:.*]] = arith.addf %[[P1]], %[[B1]] : f32
// CHECK: arith.truncf %[[SUM]]
func.func @bias(%rank: !llvm.ptr, %a: memref<4x5xbf16>, %b: memref<5x16xbf16>, %bias: memref<16xbf16>, %y: memref<4x16xbf16> {pipe.role = #pipe.role<result 0>})
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : bf16
  %c = memref.alloc() : memref<4x16xbf16>
  linalg.fill ins(%zero : bf16) outs(%c : memref<4x16xbf16>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xbf16>, memref<5x16xbf16>) outs(%c : memref<4x16xbf16>) {
  ^bb0(%x: bf16, %z: bf16, %o: bf16):
    %p = arith.mulf %x, %z : bf16
    %r = arith.addf %o, %p : bf16
    linalg.yield %r : bf16
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x16xbf16>, memref<16xbf16>) outs(%y : memref<4x16xbf16>) {
  ^bb0(%i0: bf16, %i1: bf16, %o: bf16):
    %s = arith.addf %i0, %i1 : bf16
    linalg.yield %s : bf16
  }
  return
}

// A product that is added to what is there has no second way.

// CHECK-LABEL: func.func @accumulate
// CHECK-NOT: veeline_has_gemm
// CHECK: call @veeline_gemm(
// CHECK-NOT: linalg
func.func @accumulate(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %y: memref<4x16xf32> {pipe.role = #pipe.role<param_grad 0>})
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x16xf32>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c : memref<4x16xf32>) outs(%y : memref<4x16xf32>) {
  ^bb0(%i0: f32, %o: f32):
    %s = arith.addf %o, %i0 : f32
    linalg.yield %s : f32
  }
  return
}
