// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --canonicalize --cse | FileCheck %s
// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --pipe-gpu-kernels --canonicalize --cse -o %t.mlir
// RUN: veeline-gpu-run %t.mlir | FileCheck %s --check-prefix=RAN

// A loop chooses slices of a result that it takes by another shape, to write them and to copy them: kernels take the result and the loop's number.

// CHECK-LABEL: func.func @by_another_shape
// CHECK-SAME: %[[RANK:[^:]*]]: !llvm.ptr, %[[X:[^:]*]]: memref<2x8xf32>, %[[ROWS:[^:]*]]: memref<10x8xf32>
// CHECK: scf.for %[[T:.*]] = 
// CHECK-NOT: linalg
// CHECK: call @kernel{{.*}}%[[ROWS]]{{.*}}%[[T]]
// CHECK: call @kernel{{.*}}%[[ROWS]]{{.*}}%[[T]]
// CHECK: return

// RAN: 2 kernels, 2 with the bits of their twins, 0 wrong

#ij = affine_map<(i, j) -> (i, j)>
func.func @by_another_shape(%rank: !llvm.ptr, %x: memref<2x8xf32>, %rows: memref<10x8xf32>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %states = memref.reinterpret_cast %rows to offset: [0], sizes: [2, 5, 8], strides: [40, 8, 1] : memref<10x8xf32> to memref<2x5x8xf32>
  scf.for %t = %c0 to %c5 step %c1 {
    %state = memref.subview %states[0, %t, 0] [2, 1, 8] [1, 1, 1] : memref<2x5x8xf32> to memref<2x8xf32, strided<[40, 1], offset: ?>>
    linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<2x8xf32>) outs(%state : memref<2x8xf32, strided<[40, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %s = arith.addf %a, %a : f32
      linalg.yield %s : f32
    }
    linalg.copy ins(%state : memref<2x8xf32, strided<[40, 1], offset: ?>>) outs(%x : memref<2x8xf32>)
  }
  return
}
