// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --canonicalize --cse --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --split-input-file | veeline-opt --pipe-host-code --split-input-file | FileCheck %s --check-prefix=TWIN

// Kernels for a GPU have parallel rows; the host runs them in order.

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @centre
// CHECK: call @kernel(%arg1, %arg2)
// CHECK-NEXT: return
// CHECK: func.func private @kernel(
// CHECK: memref.alloca() {{.*}} : memref<1xf32>
// CHECK: scf.forall (%[[ROW:.*]]) in (512)
// CHECK:   linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK:   linalg.generic {{.*}} iterator_types = ["parallel"]
// TWIN-LABEL: llvm.func @centre
// TWIN: llvm.func internal @kernel(
// TWIN-NOT: gpu
func.func @centre(%rank: !llvm.ptr, %x: memref<512x128xf32>, %y: memref<512x128xf32>) attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<512xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<512xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<512x128xf32>) outs(%sum : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x, %sum : memref<512x128xf32>, memref<512xf32>) outs(%y : memref<512x128xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.subf %a, %s : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// A sum over rows is a kernel of its own: rows that run at once cannot add to it.

// CHECK-LABEL: func.func @column_sum
// CHECK-COUNT-3: call @
// CHECK-NEXT: return
// CHECK-NOT: scf.for
func.func @column_sum(%rank: !llvm.ptr, %x: memref<512x128xf32>, %y: memref<512x128xf32>, %s: memref<128xf32>) attributes {pipe.num_results = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<512x128xf32>) outs(%y : memref<512x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%s : memref<128xf32>)
  linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]}
    ins(%y : memref<512x128xf32>) outs(%s : memref<128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>

// Rows are the same, but the threads of a row are not: element j of the second op
// needs what the first one computed of element j + 1.

// CHECK-LABEL: func.func @shifted
// CHECK-COUNT-2: call @
// CHECK-NEXT: return
func.func @shifted(%rank: !llvm.ptr, %x: memref<64x129xf32>, %y: memref<64x129xf32>, %z: memref<64x128xf32>) attributes {pipe.num_results = 2 : i64} {
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<64x129xf32>) outs(%y : memref<64x129xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  }
  %next = memref.subview %y[0, 1] [64, 128] [1, 1] : memref<64x129xf32> to memref<64x128xf32, strided<[129, 1], offset: 1>>
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%next : memref<64x128xf32, strided<[129, 1], offset: 1>>) outs(%z : memref<64x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.negf %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// Rows of different lengths want teams of different sizes, which decide the bits.

// CHECK-LABEL: func.func @teams
// CHECK: call @
// CHECK: call @
// CHECK: return
func.func @teams(%rank: !llvm.ptr, %x: memref<64x128xf32>, %w: memref<64x4096xf32>, %s: memref<64xf32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<64x128xf32>) outs(%s : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%w : memref<64x4096xf32>) outs(%s : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}
