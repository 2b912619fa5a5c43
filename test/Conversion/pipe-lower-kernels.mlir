// RUN: veeline-opt %s --pipe-lower-kernels --canonicalize --cse --split-input-file | FileCheck %s

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// Whole vectors, then the rest under a constant mask; what is the same in
// all lanes is loaded once.

// CHECK-LABEL: func.func @broadcast
// CHECK-DAG: %[[MASK:.*]] = arith.constant dense<[true, true, true, true, true, true, true, true, false, false, false, false, false, false, false, false]> : vector<16xi1>
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c1
// CHECK:   scf.for %[[J:.*]] = %c0 to %c32 step %c16
// CHECK:     vector.load {{.*}} : memref<160xf32>, vector<16xf32>
// CHECK:     memref.load %arg1[%[[I]]]
// CHECK:     vector.broadcast
// CHECK:     arith.addf {{.*}} : vector<16xf32>
// CHECK:     vector.store
// CHECK:   vector.maskedload {{.*}}, %[[MASK]]
// CHECK:   vector.maskedstore {{.*}}, %[[MASK]]
func.func @broadcast(%x: memref<4x40xf32>, %b: memref<4xf32>, %y: memref<4x40xf32>) {
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x, %b : memref<4x40xf32>, memref<4xf32>) outs(%y : memref<4x40xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %r = arith.addf %a, %c : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>

// Where all operands are contiguous two loops are one; f64 has 8 lanes.

// CHECK-LABEL: func.func @flat
// CHECK: scf.for %{{.*}} = %c0 to %c160 step %c8
// CHECK-NOT: scf.for
// CHECK: arith.mulf {{.*}} : vector<8xf64>
func.func @flat(%x: memref<4x40xf64>, %y: memref<4x40xf64>) {
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<4x40xf64>) outs(%y : memref<4x40xf64>) {
  ^bb0(%a: f64, %o: f64):
    %r = arith.mulf %a, %a : f64
    linalg.yield %r : f64
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// Sixteen partial sums, a fixed tree, then what was there.

// CHECK-LABEL: func.func @row_sum
// CHECK: %[[SUMS:.*]] = scf.for %{{.*}} = %c0 to %c64 step %c16 iter_args(%[[ACC:.*]] = %{{.*}}) -> (vector<16xf32>)
// CHECK:   arith.addf %[[ACC]], %{{.*}} : vector<16xf32>
// CHECK: %[[OLD:.*]] = memref.load %arg1
// CHECK: %[[L8:.*]] = vector.extract_strided_slice %[[SUMS]] {offsets = [0], sizes = [8]
// CHECK: %[[H8:.*]] = vector.extract_strided_slice %[[SUMS]] {offsets = [8], sizes = [8]
// CHECK: arith.addf %[[L8]], %[[H8]] : vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<4xf32>
// CHECK: arith.addf {{.*}} : vector<2xf32>
// CHECK: arith.addf {{.*}} : vector<1xf32>
// CHECK: arith.addf %[[OLD]], %{{.*}} : f32
func.func @row_sum(%x: memref<4x64xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<4x64xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %a, %o : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// The order does not matter to a maximum: four at once.

// CHECK-LABEL: func.func @row_max
// CHECK: scf.for %{{.*}} = %c0 to %c128 step %c64 iter_args(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
func.func @row_max(%x: memref<4x128xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<4x128xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// The sum over rows adds row by row into memory.

// CHECK-LABEL: func.func @column_sum
// CHECK: scf.for %{{.*}} = %c0 to %c4 step %c1 {
// CHECK:   scf.for %{{.*}} = %c0 to %c64 step %c16 {
// CHECK:     vector.load %arg1
// CHECK:     arith.addf
// CHECK:     vector.store %{{.*}}, %arg1
func.func @column_sum(%x: memref<4x64xf32>, %y: memref<64xf32>) {
  linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]}
    ins(%x : memref<4x64xf32>) outs(%y : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>

// A causal mask compares lane numbers in 32 bits.

// CHECK-LABEL: func.func @mask
// CHECK: arith.subi
// CHECK: arith.minsi
// CHECK: arith.maxsi
// CHECK: arith.cmpi {{[sgle]+}}, %{{.*}}, %{{.*}} : vector<16xi32>
// CHECK: arith.select {{.*}} : vector<16xi1>, vector<16xf32>
func.func @mask(%x: memref<64x64xf32>, %y: memref<64x64xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<64x64xf32>) outs(%y : memref<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi sle, %i, %j : index
    %r = arith.select %c, %a, %zero : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// A lookup of rows loads whole vectors from the table.

// CHECK-LABEL: func.func @gather
// CHECK: %[[ROW:.*]] = memref.load %arg0
// CHECK: %[[INDEX:.*]] = arith.index_cast %[[ROW]] : i32 to index
// CHECK: vector.load %arg1[%[[INDEX]], %{{.*}}] : memref<10x32xf32>, vector<16xf32>
func.func @gather(%rows: memref<4xi32>, %table: memref<10x32xf32>, %y: memref<4x32xf32>) {
  linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%rows : memref<4xi32>) outs(%y : memref<4x32xf32>) {
  ^bb0(%row: i32, %o: f32):
    %i = arith.index_cast %row : i32 to index
    %j = linalg.index 1 : index
    %r = memref.load %table[%i, %j] : memref<10x32xf32>
    linalg.yield %r : f32
  }
  return
}

// -----

// Views keep their strides and offsets.

// CHECK-LABEL: func.func @view
// CHECK: %[[VIEW:.*]] = memref.subview
// CHECK: %{{.*}}, %[[OFFSET:.*]], %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[VIEW]]
// CHECK: memref.reinterpret_cast %[[VIEW]] to offset: [%[[OFFSET]]], sizes: [120], strides: [1]
func.func @view(%x: memref<8x32xf32>, %row: index, %y: memref<4x24xf32>) {
  %v = memref.subview %x[%row, 4] [4, 24] [1, 1] : memref<8x32xf32> to memref<4x24xf32, strided<[32, 1], offset: ?>>
  linalg.copy ins(%v : memref<4x24xf32, strided<[32, 1], offset: ?>>) outs(%y : memref<4x24xf32>)
  return
}

// -----

// Copies become loops, too, and nothing remains of an empty one.

// CHECK-LABEL: func.func @copies
// CHECK-NOT: memref.copy
// CHECK-COUNT-1: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func @copies(%x: memref<64xf32>, %y: memref<64xf32>, %e: memref<0xf32>, %f: memref<0xf32>) {
  memref.copy %x, %y : memref<64xf32> to memref<64xf32>
  memref.copy %e, %f : memref<0xf32> to memref<0xf32>
  return
}

// -----

// A transpose loads squares along the rows of its input, transposes them in
// registers, and goes on from a tile on the stack; here the last column of
// squares is incomplete.

// CHECK-LABEL: func.func @transpose
// CHECK: %[[TILE:.*]] = memref.alloca() {{.*}} : memref<256xf32>
// CHECK: vector.maskedstore
// CHECK: scf.for %{{.*}} = %c0 to %c2 step %c1 {
// CHECK:   scf.for %{{.*}} = %c0 to %c4 step %c1 {
// CHECK-COUNT-16: vector.load {{.*}} : memref<{{.*}}xf32>, vector<16xf32>
// CHECK-COUNT-64: vector.shuffle
// CHECK-COUNT-16: vector.store {{.*}}, %[[TILE]]
// CHECK:     scf.for
// CHECK:       vector.load %[[TILE]]
// CHECK:       vector.store
func.func @transpose(%x: memref<72x32xf32>, %y: memref<32x72xf32>) {
  linalg.transpose ins(%x : memref<72x32xf32>) outs(%y : memref<32x72xf32>) permutation = [1, 0]
  return
}
