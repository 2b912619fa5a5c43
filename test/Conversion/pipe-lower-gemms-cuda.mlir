// RUN: veeline-opt %s --pipe-lower-gemms=target=cuda --split-input-file | FileCheck %s

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>

// Contiguous rows are taken as they are. Arguments are aligned to 16 bytes, but b has 120 bytes, so the second one of a stack of
// such matrices would be aligned to 8.

// CHECK: alignment = 8 : i64, b_strides = array<i64: 6, 1>
// CHECK-SAME: scratch_bytes = 0 : i64
// CHECK-LABEL: func.func @plain
// CHECK-NOT: memref.alloc
// CHECK: call @veeline_gemm
func.func @plain(%rank: !llvm.ptr, %a: memref<4x5xf32>, %b: memref<5x6xf32>, %c: memref<4x6xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<4x6xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %b : memref<4x5xf32>, memref<5x6xf32>) outs(%c : memref<4x6xf32>) {
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

// Every other number of a is taken, so a copy is multiplied. The slice of b starts
// at its second row, 24 bytes behind the start.

// CHECK: a_strides = array<i64: 5, 1>, alignment = 8 : i64
// CHECK-LABEL: func.func @every_other
// CHECK-SAME: %[[RANK:.*]]: !llvm.ptr, %[[A:[^:]*]]:
// CHECK: %[[VIEW:.*]] = memref.subview %[[A]][0, 0] [4, 5] [1, 2]
// CHECK: %[[DENSE:.*]] = memref.alloc() : memref<4x5xf32>
// CHECK: linalg.generic {{.*}} ins(%[[VIEW]] {{.*}} outs(%[[DENSE]]
// CHECK: memref.extract_aligned_pointer_as_index %[[DENSE]]
// CHECK: call @veeline_gemm
func.func @every_other(%rank: !llvm.ptr, %a: memref<4x10xf32>, %all: memref<6x6xf32>, %c: memref<4x6xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %half = memref.subview %a[0, 0] [4, 5] [1, 2] : memref<4x10xf32> to memref<4x5xf32, strided<[10, 2]>>
  %b = memref.subview %all[1, 0] [5, 6] [1, 1] : memref<6x6xf32> to memref<5x6xf32, strided<[6, 1], offset: 6>>
  linalg.fill ins(%zero : f32) outs(%c : memref<4x6xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%half, %b : memref<4x5xf32, strided<[10, 2]>>, memref<5x6xf32, strided<[6, 1], offset: 6>>) outs(%c : memref<4x6xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %p = arith.mulf %x, %y : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#abmk = affine_map<(a, b, m, k, n) -> (a, m, b, k)>
#abkn = affine_map<(a, b, m, k, n) -> (a, b, k, n)>
#abmn = affine_map<(a, b, m, k, n) -> (a, m, b, n)>

// Heads of attention, read in place: no one stride leads from head to head and
// from sample to sample, in x and in the result. Both are copied; w is dense.

// CHECK: {a_strides = array<i64: 32, 4, 1>, alignment = 16 : i64, b_strides = array<i64: 16, 4, 1>, batch = array<i64: 6>, c_strides = array<i64: 32, 4, 1>
// CHECK-LABEL: func.func @heads
// CHECK-SAME: %[[RANK:.*]]: !llvm.ptr, %[[X:[^:]*]]: {{.*}}, %[[W:[^:]*]]: {{.*}}, %[[Y:[^:]*]]: memref<2x8x3x4xf32>)
// CHECK: %[[FROM:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [2, 3, 8, 4], strides: [96, 4, 12, 1]
// CHECK: %[[A:.*]] = memref.alloc() : memref<2x3x8x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[FROM]] {{.*}} outs(%[[A]]
// CHECK: %[[TO:.*]] = memref.reinterpret_cast %[[Y]] to offset: [0], sizes: [2, 3, 8, 4], strides: [96, 4, 12, 1]
// CHECK: %[[C:.*]] = memref.alloc() : memref<2x3x8x4xf32>
// CHECK: call @veeline_gemm
// CHECK: linalg.generic {{.*}} ins(%[[C]] {{.*}} outs(%[[TO]]
// CHECK: return
func.func @heads(%rank: !llvm.ptr, %x: memref<2x8x3x4xf32>, %w: memref<2x3x4x4xf32>, %y: memref<2x8x3x4xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<2x8x3x4xf32>)
  linalg.generic {indexing_maps = [#abmk, #abkn, #abmn], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%x, %w : memref<2x8x3x4xf32>, memref<2x3x4x4xf32>) outs(%y : memref<2x8x3x4xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#abmk = affine_map<(a, b, m, k, n) -> (a, m, b, k)>
#abkn = affine_map<(a, b, m, k, n) -> (a, b, k, n)>
#abmn = affine_map<(a, b, m, k, n) -> (a, m, b, n)>

// The same of a slice is the same call: the slice is copied from its place.

// CHECK: {a_strides = array<i64: 32, 4, 1>, alignment = 16 : i64, b_strides = array<i64: 16, 4, 1>, batch = array<i64: 6>, c_strides = array<i64: 32, 4, 1>
// CHECK-LABEL: func.func @heads_of_slice
// CHECK-SAME: %[[RANK:.*]]: !llvm.ptr, %[[ALL:[^:]*]]: memref<3x2x8x3x4xf32>
// CHECK: %[[FROM:.*]] = memref.reinterpret_cast %[[ALL]] to offset: [192], sizes: [2, 3, 8, 4], strides: [96, 4, 12, 1]
// CHECK: %[[A:.*]] = memref.alloc() : memref<2x3x8x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[FROM]] {{.*}} outs(%[[A]]
// CHECK: call @veeline_gemm
func.func @heads_of_slice(%rank: !llvm.ptr, %all: memref<3x2x8x3x4xf32>, %w: memref<2x3x4x4xf32>, %y: memref<2x8x3x4xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = memref.subview %all[1, 0, 0, 0, 0] [1, 2, 8, 3, 4] [1, 1, 1, 1, 1] : memref<3x2x8x3x4xf32> to memref<2x8x3x4xf32, strided<[96, 12, 4, 1], offset: 192>>
  linalg.fill ins(%zero : f32) outs(%y : memref<2x8x3x4xf32>)
  linalg.generic {indexing_maps = [#abmk, #abkn, #abmn], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%x, %w : memref<2x8x3x4xf32, strided<[96, 12, 4, 1], offset: 192>>, memref<2x3x4x4xf32>) outs(%y : memref<2x8x3x4xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#abmk = affine_map<(a, b, m, k, n) -> (a, m, b, k)>
#abkn = affine_map<(a, b, m, k, n) -> (a, b, k, n)>
#abmn = affine_map<(a, b, m, k, n) -> (a, m, b, n)>

// Where a loop chooses the slices, they are copied as they are first: only a view
// knows their places.

// CHECK: {a_strides = array<i64: 32, 4, 1>, alignment = 16 : i64, b_strides = array<i64: 16, 4, 1>, batch = array<i64: 6>, c_strides = array<i64: 32, 4, 1>
// CHECK-LABEL: func.func @heads_of_chosen_slice
// CHECK: %[[X:.*]] = memref.subview
// CHECK: %[[Y:.*]] = memref.subview
// CHECK: %[[TO:.*]] = memref.alloc() : memref<2x8x3x4xf32>
// CHECK: %[[FROM:.*]] = memref.alloc() : memref<2x8x3x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]] {{.*}} outs(%[[FROM]]
// CHECK: memref.reinterpret_cast %[[FROM]] to offset: [0], sizes: [2, 3, 8, 4], strides: [96, 4, 12, 1]
// CHECK: memref.reinterpret_cast %[[TO]] to offset: [0], sizes: [2, 3, 8, 4], strides: [96, 4, 12, 1]
// CHECK: call @veeline_gemm
// CHECK: linalg.generic {{.*}} ins(%[[TO]] {{.*}} outs(%[[Y]]
func.func @heads_of_chosen_slice(%rank: !llvm.ptr, %i: index, %all: memref<3x2x8x3x4xf32>, %w: memref<2x3x4x4xf32>, %results: memref<3x2x8x3x4xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %x = memref.subview %all[%i, 0, 0, 0, 0] [1, 2, 8, 3, 4] [1, 1, 1, 1, 1] : memref<3x2x8x3x4xf32> to memref<2x8x3x4xf32, strided<[96, 12, 4, 1], offset: ?>>
  %y = memref.subview %results[%i, 0, 0, 0, 0] [1, 2, 8, 3, 4] [1, 1, 1, 1, 1] : memref<3x2x8x3x4xf32> to memref<2x8x3x4xf32, strided<[96, 12, 4, 1], offset: ?>>
  linalg.fill ins(%zero : f32) outs(%y : memref<2x8x3x4xf32, strided<[96, 12, 4, 1], offset: ?>>)
  linalg.generic {indexing_maps = [#abmk, #abkn, #abmn], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%x, %w : memref<2x8x3x4xf32, strided<[96, 12, 4, 1], offset: ?>>, memref<2x3x4x4xf32>) outs(%y : memref<2x8x3x4xf32, strided<[96, 12, 4, 1], offset: ?>>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#abmk = affine_map<(a, b, m, k, n) -> (a, b, m, k)>
#akn = affine_map<(a, b, m, k, n) -> (a, k, n)>
#abmn = affine_map<(a, b, m, k, n) -> (a, b, m, n)>

// All of a batch share b only within a group, so the rows of a group are one
// matrix: there is nothing to copy.

// CHECK: {a_strides = array<i64: 96, 4, 1>, alignment = 16 : i64, b_strides = array<i64: 16, 4, 1>, batch = array<i64: 2>, {{.*}} m = 24
// CHECK-LABEL: func.func @grouped
// CHECK-NOT: memref.alloc
// CHECK: call @veeline_gemm
func.func @grouped(%rank: !llvm.ptr, %x: memref<2x3x8x4xf32>, %w: memref<2x4x4xf32>, %y: memref<2x3x8x4xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%y : memref<2x3x8x4xf32>)
  linalg.generic {indexing_maps = [#abmk, #akn, #abmn], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
    ins(%x, %w : memref<2x3x8x4xf32>, memref<2x4x4xf32>) outs(%y : memref<2x3x8x4xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>
#bshd = affine_map<(b, h, s, d) -> (b, s, h, d)>
#all = affine_map<(b, h, s, d) -> (b, h, s, d)>

// The product is copied into an arrangement by heads. In that it would be a batch, over which neither operand
// has one stride: one copy of the result takes less than two of the operands.

// CHECK: {a_strides = array<i64: 8, 1>, {{.*}} m = 6 : i64, n = 12 : i64
// CHECK-LABEL: func.func @to_heads
// CHECK: %[[C:.*]] = memref.alloc() : memref<6x12xf32>
// CHECK-NOT: memref.alloc
// CHECK: call @veeline_gemm
// CHECK: linalg.generic
func.func @to_heads(%rank: !llvm.ptr, %x: memref<6x8xf32>, %w: memref<8x12xf32>, %heads: memref<2x3x3x4xf32>)
    attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %c = memref.alloc() : memref<6x12xf32>
  linalg.fill ins(%zero : f32) outs(%c : memref<6x12xf32>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%x, %w : memref<6x8xf32>, memref<8x12xf32>) outs(%c : memref<6x12xf32>) {
  ^bb0(%l: f32, %r: f32, %o: f32):
    %p = arith.mulf %l, %r : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  }
  %view = memref.expand_shape %c [[0, 1], [2, 3]] output_shape [2, 3, 3, 4] : memref<6x12xf32> into memref<2x3x3x4xf32>
  linalg.generic {indexing_maps = [#bshd, #all], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
    ins(%view : memref<2x3x3x4xf32>) outs(%heads : memref<2x3x3x4xf32>) {
  ^bb0(%v: f32, %o: f32):
    linalg.yield %v : f32
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>

// One that a loop chooses of a stack, in a fused backward, and the same product of a matrix of its own, in B or W alone, are
// one call.

// CHECK: pipe.gemms = [{{{[^{]*}}alignment = 8 : i64,{{[^{]*}}}]
// CHECK-LABEL: func.func @stack
// CHECK: call @veeline_gemm
// CHECK: call @veeline_gemm
func.func @stack(%rank: !llvm.ptr, %a: memref<5x5xf64>, %all: memref<4x5x5xf64>, %c: memref<5x5xf64>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f64
  linalg.fill ins(%zero : f64) outs(%c : memref<5x5xf64>)
  linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
    ins(%a, %a : memref<5x5xf64>, memref<5x5xf64>) outs(%c : memref<5x5xf64>) {
  ^bb0(%x: f64, %y: f64, %o: f64):
    %p = arith.mulf %x, %y : f64
    %r = arith.addf %o, %p : f64
    linalg.yield %r : f64
  }
  scf.for %i = %c0 to %c4 step %c1 {
    %one = memref.subview %all[%i, 0, 0] [1, 5, 5] [1, 1, 1] : memref<4x5x5xf64> to memref<5x5xf64, strided<[5, 1], offset: ?>>
    linalg.fill ins(%zero : f64) outs(%c : memref<5x5xf64>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %one : memref<5x5xf64>, memref<5x5xf64, strided<[5, 1], offset: ?>>) outs(%c : memref<5x5xf64>) {
    ^bb0(%x: f64, %y: f64, %o: f64):
      %p = arith.mulf %x, %y : f64
      %r = arith.addf %o, %p : f64
      linalg.yield %r : f64
    }
  }
  return
}

// -----

#mk = affine_map<(m, k, n) -> (m, k)>
#kn = affine_map<(m, k, n) -> (k, n)>
#mn = affine_map<(m, k, n) -> (m, n)>

// Those of a stack of aligned matrices are aligned, too.

// CHECK: pipe.gemms = [{{{[^{]*}}alignment = 16 : i64,{{[^{]*}}}]
// CHECK-LABEL: func.func @aligned_stack
func.func @aligned_stack(%rank: !llvm.ptr, %a: memref<4x4xf32>, %all: memref<4x4x4xf32>, %c: memref<4x4xf32>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c4 step %c1 {
    %one = memref.subview %all[%i, 0, 0] [1, 4, 4] [1, 1, 1] : memref<4x4x4xf32> to memref<4x4xf32, strided<[4, 1], offset: ?>>
    linalg.fill ins(%zero : f32) outs(%c : memref<4x4xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%a, %one : memref<4x4xf32>, memref<4x4xf32, strided<[4, 1], offset: ?>>) outs(%c : memref<4x4xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %o, %p : f32
      linalg.yield %r : f32
    }
  }
  return
}
