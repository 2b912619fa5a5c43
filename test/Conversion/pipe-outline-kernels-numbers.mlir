// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --canonicalize --cse | FileCheck %s
// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --pipe-gpu-kernels --canonicalize --cse -o %t.mlir
// RUN: veeline-gpu-run %t.mlir | FileCheck %s --check-prefix=RAN

// Numbers of the host that it writes into memory of the GPU are filled in by kernels: at places that are known, that a loop chooses,
// or both, of a scalar, and in a branch that the host takes.

// CHECK-LABEL: func.func @numbers
// CHECK-NOT: memref.store
// CHECK: call @kernel
// CHECK-NOT: memref.store
// CHECK: call @kernel
// CHECK: scf.for %[[T:.*]] = 
// CHECK-NOT: memref.store
// CHECK: call @kernel{{.*}}, %[[T]]
// CHECK: scf.if
// CHECK-NOT: memref.store
// CHECK: call @kernel
// CHECK: return

// RAN: {{[1-9]}} kernels, {{[1-9]}} with the bits of their twins, 0 wrong

#ij = affine_map<(i, j) -> (i, j)>

func.func @numbers(%rank: !llvm.ptr, %x: memref<4x8xf32>, %s: memref<f32>, %row: memref<8xf32>, %taken: i1) attributes {pipe.num_results = 3 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %one = arith.constant 1.0 : f32
  memref.store %one, %s[] : memref<f32>
  memref.store %one, %x[%c2, %c1] : memref<4x8xf32>
  scf.for %t = %c0 to %c4 step %c1 {
    linalg.fill ins(%one : f32) outs(%row : memref<8xf32>)
    memref.store %one, %x[%t, %c2] : memref<4x8xf32>
  }
  scf.if %taken {
    memref.store %one, %x[%c0, %c0] : memref<4x8xf32>
  }
  return
}

// A number that is read back from memory is there before a kernel fills it in, though what is around that kernel has buffers
// in common.

// CHECK-LABEL: func.func @read_back
// CHECK: call @kernel
// CHECK: %[[NUMBER:.*]] = memref.load
// CHECK: call @kernel{{.*}}, %[[NUMBER]]
// CHECK: call @kernel
// CHECK: return
func.func @read_back(%rank: !llvm.ptr, %x: memref<4x8xf32>, %s: memref<f32>, %y: memref<4x8xf32>, %f: memref<4x8xf32>, %z: memref<4x8xf32>)
    attributes {pipe.num_results = 3 : i64} {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : memref<4x8xf32>) outs(%y : memref<4x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = arith.mulf %a, %a : f32
    linalg.yield %p : f32
  }
  %number = memref.load %s[] : memref<f32>
  linalg.fill ins(%zero : f32) outs(%f : memref<4x8xf32>)
  memref.store %number, %f[%c1, %c1] : memref<4x8xf32>
  linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%y, %f : memref<4x8xf32>, memref<4x8xf32>) outs(%z : memref<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  }
  return
}
