// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --pipe-gpu-kernels --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: veeline-opt %t.mlir --pipe-gpu-code | veeline-gpu-code --ptx-of=sm_80 | FileCheck %s --check-prefix=PTX

// A loop of the host chooses slices: kernels take their place as a number. What that is multiplied by says how they are
// aligned: rows of 256 elements of f32 start at multiples of 16 bytes.

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @scale_rows
// CHECK: %[[C0:.*]] = arith.constant 0
// CHECK: scf.for %[[T:.*]] = %[[C0]] to
// CHECK:   func.call @kernel(%{{.*}}, %[[T]], %{{.*}})
// CHECK: gpu.func @elementwise_64x256_{{.*}}(%{{.*}}: memref<8x64x256xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %[[START:.*]]: index
// CHECK: arith.muli %[[START]], %c16384
// CHECK: vector.load {{.*}} {alignment = 16 : i64}

// PTX-LABEL: .entry elementwise_64x256_
// PTX: ld.global.nc.v4.b32
// PTX: st.global.v4.b32

func.func @scale_rows(%rank: !llvm.ptr, %x: memref<8x64x256xf32>, %y: memref<64x8x256xf32>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %two = arith.constant 2.0 : f32
  scf.for %t = %c0 to %c8 step %c1 {
    %from = memref.subview %x[%t, 0, 0] [1, 64, 256] [1, 1, 1] : memref<8x64x256xf32> to memref<64x256xf32, strided<[256, 1], offset: ?>>
    %to = memref.subview %y[0, %t, 0] [64, 1, 256] [1, 1, 1] : memref<64x8x256xf32> to memref<64x256xf32, strided<[2048, 1], offset: ?>>
    linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%from : memref<64x256xf32, strided<[256, 1], offset: ?>>) outs(%to : memref<64x256xf32, strided<[2048, 1], offset: ?>>) {
    ^bb0(%a: f32, %o: f32):
      %m = arith.mulf %a, %two : f32
      linalg.yield %m : f32
    }
  }
  return
}

// A row for a warp; a slice of a slice, one of them at a static place. Rows of 77 elements start anywhere.

// CHECK: gpu.func @row_5x77_
// CHECK: gpu.shuffle

func.func @sum_rows(%rank: !llvm.ptr, %x: memref<9x6x77xf32>, %s: memref<9x5xf32>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  scf.for %t = %c0 to %c9 step %c1 {
    %one = memref.subview %x[%t, 0, 0] [1, 6, 77] [1, 1, 1] : memref<9x6x77xf32> to memref<6x77xf32, strided<[77, 1], offset: ?>>
    %rest = memref.subview %one[1, 0] [5, 77] [1, 1] : memref<6x77xf32, strided<[77, 1], offset: ?>> to memref<5x77xf32, strided<[77, 1], offset: ?>>
    %sums = memref.subview %s[%t, 0] [1, 5] [1, 1] : memref<9x5xf32> to memref<5xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
      ins(%rest : memref<5x77xf32, strided<[77, 1], offset: ?>>) outs(%sums : memref<5xf32, strided<[1], offset: ?>>) {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      linalg.yield %c : f32
    }
  }
  return
}

// One slice of a buffer makes the next one: another place of it.

// CHECK: gpu.func @{{.*}}(%{{.*}}: memref<7x130xf32> {llvm.align = 16 : i64, llvm.noalias}, %{{.*}}: index, %{{.*}}: index)

func.func @recurrence(%rank: !llvm.ptr, %h: memref<7x130xf32>) attributes {pipe.num_results = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  scf.for %t = %c1 to %c7 step %c1 {
    %before = arith.subi %t, %c1 : index
    %from = memref.subview %h[%before, 0] [1, 130] [1, 1] : memref<7x130xf32> to memref<130xf32, strided<[1], offset: ?>>
    %to = memref.subview %h[%t, 0] [1, 130] [1, 1] : memref<7x130xf32> to memref<130xf32, strided<[1], offset: ?>>
    linalg.exp ins(%from : memref<130xf32, strided<[1], offset: ?>>) outs(%to : memref<130xf32, strided<[1], offset: ?>>)
  }
  return
}
