// RUN: veeline-opt %s --pipe-lower-gemms --split-input-file | FileCheck %s

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#nk = affine_map<(m, k, n) -> (n, k)>
#mn = affine_map<(m, k, n) -> (m, n)>

// CHECK: module attributes {pipe.gemms = [
// CHECK-SAME: {a_strides = array<i64: 5, 1>, b_strides = array<i64: 6, 1>, batch = array<i64>, c_strides = array<i64: 6, 1>, dtype = f32, k = 5 : i64, m = 4 : i64, n = 6 : i64, scratch_bytes = 0 : i64}
// CHECK-SAME: ]}
// CHECK: func.func private @veeline_gemm(!llvm.ptr, i32, !llvm.ptr, !llvm.ptr, !llvm.ptr, !llvm.ptr)

// The zeros are dropped; both calls share the entry.

// CHECK-LABEL: func.func @zero_init
// CHECK-NOT: linalg.fill
// CHECK: %[[INDEX:.*]] = arith.constant 0 : i32
// CHECK: call @veeline_gemm(%arg0, %[[INDEX]], {{.*}})
// CHECK: %[[INDEX:.*]] = arith.constant 0 : i32
// CHECK: call @veeline_gemm(%arg0, %[[INDEX]], {{.*}})
// CHECK-NOT: linalg.generic
func.func @zero_init(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x6xf32>, %c: memref<4x6xf32>, %d: memref<4x6xf32>)
    attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x6xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x6xf32>) outs(%c : memref<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%d : memref<4x6xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x6xf32>) outs(%d : memref<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#nk = affine_map<(m, k, n) -> (n, k)>
#mn = affine_map<(m, k, n) -> (m, n)>

// What is in the result already gets the product added.

// CHECK: b_strides = array<i64: 1, 5>
// CHECK-LABEL: func.func @other_init
// CHECK: %[[T:.*]] = memref.alloc() : memref<4x6xf32>
// CHECK: memref.extract_aligned_pointer_as_index %[[T]]
// CHECK: call @veeline_gemm
// CHECK: linalg.generic {{.*}} ins(%[[T]] : memref<4x6xf32>) outs(%arg3 : memref<4x6xf32>)
// CHECK:   arith.addf
func.func @other_init(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<6x5xf32>, %c: memref<4x6xf32>)
    attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<6x5xf32>) outs(%c : memref<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#abmk = affine_map<(a, m, k, n) -> (a, m, k)>
#abkn = affine_map<(a, m, k, n) -> (a, k, n)>
#abmn = affine_map<(a, m, k, n) -> (a, m, n)>
#in = affine_map<(a, b, c, d) -> (a, b, c, d)>
#swap = affine_map<(a, b, c, d) -> (a, c, b, d)>

// Copies around a product stay: what the library is called on is what the op
// has, whoever made it. (Transposes are folded into the maps of products before
// they are differentiated.)

// CHECK: a_strides = array<i64: 32, 4, 1>
// CHECK-SAME: b_strides = array<i64: 16, 4, 1>
// CHECK-SAME: batch = array<i64: 6>
// CHECK-SAME: c_strides = array<i64: 32, 4, 1>
// CHECK-LABEL: func.func @heads
// CHECK: linalg.generic
// CHECK: call @veeline_gemm
// CHECK: linalg.generic
// CHECK: return
func.func @heads(%rank: !llvm.ptr, %x: memref<2x8x3x4xf32>, %w: memref<6x4x4xf32>, %y: memref<2x8x3x4xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %heads = memref.alloc() : memref<2x3x8x4xf32>
  linalg.generic {indexing_maps = [#swap, #in], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%x : memref<2x8x3x4xf32>) outs(%heads : memref<2x3x8x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %a = memref.collapse_shape %heads [[0, 1], [2], [3]] : memref<2x3x8x4xf32> into memref<6x8x4xf32>
  %c = memref.alloc() : memref<6x8x4xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<6x8x4xf32>)
  linalg.generic {indexing_maps = [#abmk, #abkn, #abmn], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
    ins(%a, %w : memref<6x8x4xf32>, memref<6x4x4xf32>) outs(%c : memref<6x8x4xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  %split = memref.expand_shape %c [[0, 1], [2], [3]] output_shape [2, 3, 8, 4] : memref<6x8x4xf32> into memref<2x3x8x4xf32>
  linalg.generic {indexing_maps = [#in, #swap], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%split : memref<2x3x8x4xf32>) outs(%y : memref<2x8x3x4xf32>) {
  ^bb0(%l: f32, %o: f32):
    linalg.yield %l : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>

#mkl = affine_map<(m, k, l, n) -> (m, k, l)>
#kln = affine_map<(m, k, l, n) -> (k, l, n)>
#mln = affine_map<(m, k, l, n) -> (m, n)>

// Products of other types stay. A sum over two dimensions is one over one: there
// are no gaps between them in a copy.

// CHECK: k = 10 : i64, m = 4 : i64, n = 6 : i64
// CHECK-LABEL: func.func @others
// CHECK: %[[X:.*]] = memref.subview
// CHECK: linalg.generic
// CHECK: arith.muli
// CHECK: %[[DENSE:.*]] = memref.alloc() : memref<4x5x2xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : {{.*}}) outs(%[[DENSE]]
// CHECK: call @veeline_gemm
func.func @others(%rank: !llvm.ptr, %a: memref<4x5xi32>, %b: memref<5x6xi32>, %c: memref<4x6xi32>,
                  %whole: memref<4x5x4xf32>, %y: memref<5x2x6xf32>, %z: memref<4x6xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %x = memref.subview %whole[0, 0, 0] [4, 5, 2] [1, 1, 1] : memref<4x5x4xf32> to memref<4x5x2xf32, strided<[20, 4, 1]>>
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xi32>, memref<5x6xi32>) outs(%c : memref<4x6xi32>) {
  ^bb0(%l: i32, %r: i32, %o: i32):
    %p = arith.muli %l, %r : i32
    %s = arith.addi %o, %p : i32
    linalg.yield %s : i32
  }
  linalg.generic {indexing_maps = [#mkl, #kln, #mln], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
    ins(%x, %y : memref<4x5x2xf32, strided<[20, 4, 1]>>, memref<5x2x6xf32>) outs(%z : memref<4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#bmk = affine_map<(b, m, k, n) -> (b, m, k)>
#kn = affine_map<(b, m, k, n) -> (k, n)>
#bmn = affine_map<(b, m, k, n) -> (b, m, n)>

// Rows in two dimensions with a gap are copied: where they had none, as in a
// value that was kept, the same product would be another one.

// CHECK: a_strides = array<i64: 5, 1>, b_strides = array<i64: 6, 1>, batch = array<i64>, {{.*}}m = 12 : i64
// CHECK-LABEL: func.func @rows
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : memref<3x4x5xf32>)
// CHECK: call @veeline_gemm
func.func @rows(%rank: !llvm.ptr, %whole: memref<3x8x5xf32>, %b: memref<5x6xf32>, %c: memref<3x4x6xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %a = memref.subview %whole[0, 0, 0] [3, 4, 5] [1, 1, 1] : memref<3x8x5xf32> to memref<3x4x5xf32, strided<[40, 5, 1]>>
  linalg.fill ins(%zero : f32) outs(%c : memref<3x4x6xf32>)
  linalg.generic {indexing_maps = [#bmk, #kn, #bmn], iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<3x4x5xf32, strided<[40, 5, 1]>>, memref<5x6xf32>) outs(%c : memref<3x4x6xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A copy of memory to itself reads it, so it stays.

// CHECK-LABEL: func.func @copy_to_itself
// CHECK: %[[A:.*]] = memref.alloc()
// CHECK: memref.copy %[[A]], %[[A]]
func.func @copy_to_itself(%rank: !llvm.ptr) attributes {pipe.num_results = 0 : i64} {
  %a = memref.alloc() : memref<4xf32>
  memref.copy %a, %a : memref<4xf32> to memref<4xf32>
  return
}

// -----

#bmk = affine_map<(m, k, n) -> (m, k)>
#bkn = affine_map<(m, k, n) -> (k, n)>
#bmn = affine_map<(m, k, n) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>

// The product is a part of what is copied: the zeros around it are copied too.

// CHECK-LABEL: func.func @part_of_copy
// CHECK-SAME: %[[C:[a-z0-9]+]]: memref<6x8xf32>)
// CHECK: %[[ALL:.*]] = memref.alloc() : memref<8x6xf32>
// CHECK: linalg.fill {{.*}} outs(%[[ALL]]
// CHECK: extract_aligned_pointer_as_index %[[ALL]] : memref<8x6xf32> -> index{{$}}
// CHECK: call @veeline_gemm
// CHECK: linalg.generic {{.*}} ins(%[[ALL]] : memref<8x6xf32>) outs(%[[C]] : memref<6x8xf32>)
func.func @part_of_copy(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x6xf32>, %c: memref<6x8xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %all = memref.alloc() : memref<8x6xf32>
  linalg.fill ins(%zero : f32) outs(%all : memref<8x6xf32>)
  %part = memref.subview %all[2, 0] [4, 6] [1, 1] : memref<8x6xf32> to memref<4x6xf32, strided<[6, 1], offset: 12>>
  linalg.fill ins(%zero : f32) outs(%part : memref<4x6xf32, strided<[6, 1], offset: 12>>)
  linalg.generic {indexing_maps = [#bmk, #bkn, #bmn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x6xf32>) outs(%part : memref<4x6xf32, strided<[6, 1], offset: 12>>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#ij, #ji], iterator_types = ["parallel", "parallel"]}
    ins(%all : memref<8x6xf32>) outs(%c : memref<6x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  }
  return
}
