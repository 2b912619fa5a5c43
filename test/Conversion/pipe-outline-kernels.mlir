// RUN: veeline-opt %s --pipe-outline-kernels --canonicalize --cse --split-input-file | FileCheck %s
// RUN: veeline-opt %s --pipe-outline-kernels=fuse=false --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=APART

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// A softmax is one kernel: one loop over rows; maximum and sum are one number
// on the stack each.

// CHECK-LABEL: func.func @softmax
// CHECK-NOT: memref.alloc
// CHECK: call @kernel(%arg1, %arg2)
// CHECK-NEXT: return
// CHECK: func.func private @kernel(%[[X:.*]]: memref<512x128xf32> {llvm.noalias}, %[[Y:.*]]: memref<512x128xf32> {llvm.noalias})
// CHECK-SAME: llvm.linkage = #llvm.linkage<internal>
// CHECK-SAME: pipe.kernel
// CHECK-DAG: %[[M:.*]] = memref.alloca() {{.*}} : memref<1xf32>
// CHECK-DAG: %[[S:.*]] = memref.alloca() {{.*}} : memref<1xf32>
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step
// CHECK:   %[[OFFSET:.*]] = arith.muli %[[ROW]], %{{.*}}
// CHECK:   memref.reinterpret_cast %[[X]] to offset: [%[[OFFSET]]], sizes: [128], strides: [1]
// CHECK:   linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK:     arith.maximumf
// CHECK:   linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK:     math.exp
// CHECK:   linalg.generic {{.*}} iterator_types = ["reduction"]
// CHECK:     arith.addf
// CHECK:   linalg.generic {{.*}} iterator_types = ["parallel"]
// CHECK:     arith.divf

// APART-LABEL: func.func @softmax
// APART-COUNT-6: call @kernel
// APART-NOT: call @kernel
// APART: return
func.func @softmax(%rank: !llvm.ptr, %x: memref<512x128xf32>, %y: memref<512x128xf32>) attributes {pipe.num_results = 1 : i64} {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %max = memref.alloc() : memref<512xf32>
  %sum = memref.alloc() : memref<512xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<512xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<512x128xf32>) outs(%max : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x, %max : memref<512x128xf32>, memref<512xf32>) outs(%y : memref<512x128xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<512xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%y : memref<512x128xf32>) outs(%sum : memref<512xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%y, %sum : memref<512x128xf32>, memref<512xf32>) outs(%y : memref<512x128xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

// The sum of columns accumulates row by row beside what it sums; its zeros are
// written before the loop.

// CHECK-LABEL: func.func @column_sum
// CHECK: call @[[ZERO:[a-z_0-9]+]](%arg3)
// CHECK: call @[[ROWS:[a-z_0-9]+]](%arg1, %arg2, %arg3)
// CHECK: func.func private @[[ROWS]](
// CHECK: scf.for
// CHECK:   math.exp
// CHECK:   arith.addf
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
#ji = affine_map<(i, j) -> (j, i)>

// A row of the transpose needs all rows of the input: two kernels. The two
// exponentials are the same kernel.

// CHECK-LABEL: func.func @transpose
// CHECK: call @[[EXP:[a-z_0-9]+]](%arg1, %[[T:[a-z_0-9]+]])
// CHECK: call @[[COPY:[a-z_0-9]+]](%[[T]], %arg2)
// CHECK: call @[[EXP]](%arg2, %arg3)
func.func @transpose(%rank: !llvm.ptr, %x: memref<128x128xf32>, %y: memref<128x128xf32>, %z: memref<128x128xf32>) attributes {pipe.num_results = 2 : i64} {
  %t = memref.alloc() : memref<128x128xf32>
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<128x128xf32>) outs(%t : memref<128x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%t : memref<128x128xf32>) outs(%y : memref<128x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  %copy = memref.alloc() : memref<f32>
  call @opaque(%y) : (memref<128x128xf32>) -> ()
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%y : memref<128x128xf32>) outs(%z : memref<128x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  }
  return
}
func.func private @opaque(memref<128x128xf32>)

// -----

#i = affine_map<(i) -> (i)>

// A loop that is no structured op is a kernel of its own.

// CHECK-LABEL: func.func @loop
// CHECK: call @kernel(%arg1, %arg2)
// CHECK: func.func private @kernel(
// CHECK: scf.for
// CHECK:   memref.load
// CHECK:   memref.store
func.func @loop(%rank: !llvm.ptr, %index: memref<4xindex>, %x: memref<16xf32>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  scf.for %k = %c0 to %c4 step %c1 {
    %at = memref.load %index[%k] : memref<4xindex>
    %old = memref.load %x[%at] : memref<16xf32>
    %sum = arith.addf %old, %one : f32
    memref.store %sum, %x[%at] : memref<16xf32>
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>

// Where two buffers may be the same one, everything stays in its order.

// CHECK-LABEL: func.func @alias
// CHECK: call @[[EXP:[a-z_0-9]+]](%arg1,
// CHECK: arith.select
// CHECK: call @{{[a-z_0-9]+}}(%arg1,
// CHECK: call @[[EXP]](
func.func @alias(%rank: !llvm.ptr, %x: memref<128x128xf32>, %y: memref<128x128xf32>, %z: memref<128x128xf32>, %c: i1) attributes {pipe.num_results = 2 : i64} {
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<128x128xf32>) outs(%y : memref<128x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  }
  %either = arith.select %c, %y, %z : memref<128x128xf32>
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<128x128xf32>) outs(%either : memref<128x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%y : memref<128x128xf32>) outs(%z : memref<128x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = math.exp %a : f32
    linalg.yield %r : f32
  }
  return
}

// -----

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// What a loop reads was written before it, and what it writes is read after
// it: neither is a buffer of a row, but the sum is.

// CHECK-LABEL: func.func @around_loop
// CHECK: %[[BEFORE:.*]] = memref.alloc() : memref<512x128xf32>
// CHECK: %[[AFTER:.*]] = memref.alloc() : memref<512x128xf32>
// CHECK-NOT: memref.alloc
// CHECK: call @{{.*}}(%[[BEFORE]])
// CHECK: scf.for
// CHECK-NEXT: call @kernel(%arg1, %[[BEFORE]], %[[AFTER]])
// CHECK-NEXT: }
// CHECK-NEXT: call @{{.*}}(%[[AFTER]], %arg2)
// CHECK: func.func private @kernel(
// CHECK-COUNT-1: memref.alloca() {{.*}} : memref<1xf32>
// CHECK-NOT: memref.alloca
// CHECK: return

// APART-LABEL: func.func @around_loop
// APART: scf.for
// APART-COUNT-3: func.call @kernel
func.func @around_loop(%rank: !llvm.ptr, %x: memref<512x128xf32>, %y: memref<512x128xf32>) attributes {pipe.num_results = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %lower = arith.constant 0 : index
  %upper = arith.constant 5 : index
  %step = arith.constant 1 : index
  %before = memref.alloc() : memref<512x128xf32>
  %after = memref.alloc() : memref<512x128xf32>
  linalg.fill ins(%one : f32) outs(%before : memref<512x128xf32>)
  scf.for %t = %lower to %upper step %step {
    %sum = memref.alloc() : memref<512xf32>
    linalg.fill ins(%zero : f32) outs(%sum : memref<512xf32>)
    linalg.generic {indexing_maps = [#ij, #ij, #i], iterator_types = ["parallel", "reduction"]}
        ins(%x, %before : memref<512x128xf32>, memref<512x128xf32>) outs(%sum : memref<512xf32>) {
    ^bb0(%a: f32, %b: f32, %old: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %old, %0 : f32
      linalg.yield %1 : f32
    }
    linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
        ins(%x, %sum : memref<512x128xf32>, memref<512xf32>) outs(%after : memref<512x128xf32>) {
    ^bb0(%a: f32, %s: f32, %old: f32):
      %0 = arith.subf %a, %s : f32
      linalg.yield %0 : f32
    }
  }
  memref.copy %after, %y : memref<512x128xf32> to memref<512x128xf32>
  return
}
