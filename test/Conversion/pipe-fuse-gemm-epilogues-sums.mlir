// RUN: veeline-opt %s --pipe-lower-gemms=target=cuda --pipe-fuse-gemm-epilogues --canonicalize --split-input-file | FileCheck %s

// The library adds a bias wherever all that reads the product reads the sum: here rows are added up, and the sum is read in another order.

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// CHECK: pipe.gemms = [{{{.*}}dtype = f32, epilogue = "bias"{{.*}}}]
// CHECK-LABEL: func.func @all_read_sums
// CHECK: %[[C:.*]] = memref.alloc() : memref<4x16xf32>
// CHECK: call @veeline_gemm_bias
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "reduction"]} ins(%[[C]] : memref<4x16xf32>)
// CHECK: ^bb0(%[[X:.*]]: f32, %[[O:.*]]: f32):
// CHECK-NEXT: %[[R:.*]] = arith.addf %[[O]], %[[X]] : f32
// CHECK-NEXT: linalg.yield %[[R]]
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}], iterator_types = ["parallel", "parallel"]} ins(%[[C]] : memref<4x16xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.maximumf %[[X]]
func.func @all_read_sums(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %bias: memref<16xf32>, %sums: memref<4xf32>, %turned: memref<16x4xf32>, %small: memref<4x16xbf16>)
    attributes {pipe.num_results = 3 : i64} {
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
  linalg.generic {indexing_maps = [#ij, #j, #i], iterator_types = ["parallel", "reduction"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%sums : memref<4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %r = arith.addf %o, %s : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ji, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%turned : memref<16x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %y, %x : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// One that reads the product as well keeps the bias where it is, for all.

// CHECK-NOT: epilogue
// CHECK-LABEL: func.func @one_reads_the_product
// CHECK: call @veeline_gemm(
// CHECK: ins(%{{.*}}, %{{.*}} : memref<4x16xf32>, memref<16xf32>)
// CHECK: ins(%{{.*}}, %{{.*}} : memref<4x16xf32>, memref<16xf32>)
func.func @one_reads_the_product(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %bias: memref<16xf32>, %sums: memref<4xf32>, %turned: memref<16x4xf32>, %small: memref<4x16xbf16>)
    attributes {pipe.num_results = 3 : i64} {
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
  linalg.generic {indexing_maps = [#ij, #j, #i], iterator_types = ["parallel", "reduction"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%sums : memref<4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %t = arith.mulf %s, %x : f32
    %r = arith.addf %o, %t : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ji, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%turned : memref<16x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %y, %x : f32
    %r = arith.maximumf %s, %zero : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// Where all that reads the sum rounds it at once, the library does.

// CHECK: pipe.gemms = [{{{.*}}dtype = bf16, epilogue = "bias"{{.*}}}]
// CHECK-LABEL: func.func @rounded
// CHECK: call @veeline_gemm_bias
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : memref<4x16xbf16>) outs(%{{.*}} : memref<4x16xbf16>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: bf16, %{{.*}}: bf16):
// CHECK-NOT: arith.addf
// CHECK: return
func.func @rounded(%rank: !llvm.ptr, %a: memref<4x5xbf16>, %b: memref<5x16xbf16>, %bias: memref<16xf32>, %sums: memref<4xf32>, %turned: memref<16x4xf32>, %small: memref<4x16xbf16>)
    attributes {pipe.num_results = 3 : i64} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xbf16>, memref<5x16xbf16>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: bf16, %z: bf16, %o: f32):
    %xw = arith.extf %x : bf16 to f32
    %zw = arith.extf %z : bf16 to f32
    %p = arith.mulf %xw, %zw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%small : memref<4x16xbf16>) {
  ^bb0(%x: f32, %y: f32, %o: bf16):
    %s = arith.addf %x, %y : f32
    %q = arith.truncf %s : f32 to bf16
    %h = arith.constant 0.0 : bf16
    %r = arith.maximumf %q, %h : bf16
    linalg.yield %r : bf16
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// Where one does not, the sum is of f32.

// CHECK: pipe.gemms = [{{{.*}}c_dtype = f32{{.*}}dtype = bf16, epilogue = "bias"{{.*}}}]
// CHECK-LABEL: func.func @rounded_by_one
// CHECK: call @veeline_gemm_bias
func.func @rounded_by_one(%rank: !llvm.ptr, %a: memref<4x5xbf16>, %b: memref<5x16xbf16>, %bias: memref<16xf32>, %sums: memref<4xf32>, %turned: memref<16x4xf32>, %small: memref<4x16xbf16>)
    attributes {pipe.num_results = 3 : i64} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xbf16>, memref<5x16xbf16>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: bf16, %z: bf16, %o: f32):
    %xw = arith.extf %x : bf16 to f32
    %zw = arith.extf %z : bf16 to f32
    %p = arith.mulf %xw, %zw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%small : memref<4x16xbf16>) {
  ^bb0(%x: f32, %y: f32, %o: bf16):
    %s = arith.addf %x, %y : f32
    %q = arith.truncf %s : f32 to bf16
    %h = arith.constant 0.0 : bf16
    %r = arith.maximumf %q, %h : bf16
    linalg.yield %r : bf16
  }
  linalg.generic {indexing_maps = [#ij, #j, #i], iterator_types = ["parallel", "reduction"]}
    ins(%c, %bias : memref<4x16xf32>, memref<16xf32>) outs(%sums : memref<4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    %r = arith.addf %o, %s : f32
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

// Something else is added to the sum afterwards.

// CHECK-LABEL: func.func @another_writer
// CHECK: call @veeline_gemm_bias
// CHECK: call @veeline_gemm(
func.func @another_writer(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x16xf32>, %bias: memref<16xf32>, %target: memref<4x16xf32>)
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
  linalg.generic {indexing_maps = [#j, #ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%bias, %c : memref<16xf32>, memref<4x16xf32>) outs(%target : memref<4x16xf32>) {
  ^bb0(%y: f32, %x: f32, %o: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x16xf32>) outs(%target : memref<4x16xf32>) {
  ^bb0(%x: f32, %z: f32, %o: f32):
    %p = arith.mulf %x, %z : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#ijk = affine_map<(i, j, k) -> (i, j, k)>
#k = affine_map<(i, j, k) -> (k)>

// The bias comes first, and rows are called by two numbers; what is read is rounded.

// CHECK: pipe.gemms = [{{{.*}}dtype = bf16, epilogue = "bias"{{.*}}}]
// CHECK-LABEL: func.func @reshaped
// CHECK: %[[C:.*]] = memref.alloc() : memref<4x16xbf16>
// CHECK: call @veeline_gemm_bias
// CHECK: %[[V:.*]] = memref.expand_shape %[[C]] {{.*}} : memref<4x16xbf16> into memref<2x2x16xbf16>
// CHECK: linalg.generic {{.*}} ins(%[[V]] : memref<2x2x16xbf16>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: bf16, %{{.*}}: bf16):
// CHECK-NEXT: arith.maximumf %[[X]]
func.func @reshaped(%rank: !llvm.ptr, %a: memref<4x5xbf16>, %b: memref<5x16xbf16>, %bias: memref<16xf32>, %target: memref<2x2x16xbf16>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %h = arith.constant 0.0 : bf16
  %c = memref.alloc() : memref<4x16xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x16xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xbf16>, memref<5x16xbf16>) outs(%c : memref<4x16xf32>) {
  ^bb0(%x: bf16, %z: bf16, %o: f32):
    %xw = arith.extf %x : bf16 to f32
    %zw = arith.extf %z : bf16 to f32
    %p = arith.mulf %xw, %zw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  %v = memref.expand_shape %c [[0, 1], [2]] output_shape [2, 2, 16] : memref<4x16xf32> into memref<2x2x16xf32>
  linalg.generic {indexing_maps = [#k, #ijk, #ijk], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%bias, %v : memref<16xf32>, memref<2x2x16xf32>) outs(%target : memref<2x2x16xbf16>) {
  ^bb0(%y: f32, %x: f32, %o: bf16):
    %s = arith.addf %y, %x : f32
    %q = arith.truncf %s : f32 to bf16
    %r = arith.maximumf %q, %h : bf16
    linalg.yield %r : bf16
  }
  return
}
