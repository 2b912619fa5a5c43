// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --pipe-gpu-kernels --canonicalize --cse --verify-diagnostics -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: veeline-opt %t.mlir --pipe-gpu-code | veeline-gpu-code --ptx-of=sm_80 | FileCheck %s --check-prefix=PTX

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#abc = affine_map<(a, b, c) -> (a, b, c)>
#acb = affine_map<(a, b, c) -> (a, c, b)>

// Squares of 32: read along the input's rows, written along the result's.

// CHECK: gpu.func @transpose_1024x512_{{.*}} workgroup(%[[TILE:.*]] : memref<1056xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 512, 1, 1>
// CHECK-NOT: scf.if
// CHECK-COUNT-4: memref.store %{{.*}}, %[[TILE]]
// CHECK: gpu.barrier
// CHECK: memref.load %[[TILE]]
// CHECK: gpu.return

// PTX: .entry transpose_1024x512_
// PTX: .shared .align 16 .b8 {{.*}}[4224]
// PTX: st.shared.b32
// PTX: bar.sync
// PTX: ld.shared.b32
// PTX: st.global.b32

func.func @transpose(%rank: !llvm.ptr, %x: memref<512x1024xf32>, %y: memref<1024x512xf32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<512x1024xf32>) outs(%y : memref<1024x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  }
  return
}

// Squares at the end are partly there; what is computed on the way is computed.

// CHECK: gpu.func @transpose_120x70_{{.*}}known_grid_size = array<i32: 18, 1, 1>
// CHECK: scf.if
// CHECK: gpu.barrier
// CHECK: scf.if
// CHECK:   arith.addf

func.func @batched(%rank: !llvm.ptr, %x: memref<3x70x40xf32>, %z: memref<3x40x70xf32>, %y: memref<3x40x70xf32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#acb, #abc, #abc], iterator_types = ["parallel", "parallel", "parallel"]}
    ins(%x, %z : memref<3x70x40xf32>, memref<3x40x70xf32>) outs(%y : memref<3x40x70xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// Eight groups of 32 threads run over every eighth row; neighbours have neighbours. Eight rows are
// on their way before the first is added.

// CHECK: gpu.func @columns_512x1280_{{.*}} workgroup(%[[SHARED:.*]] : memref<256xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 40, 1, 1>
// CHECK: scf.for {{.*}} to %c512 step %c64 iter_args
// CHECK-COUNT-8: memref.load
// CHECK-COUNT-8: arith.addf
// CHECK: memref.store %{{.*}}, %[[SHARED]]
// CHECK-COUNT-3: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// PTX: .entry columns_512x1280_
// PTX-COUNT-8: ld.global.nc.b32
// PTX: st.shared.b32
// PTX-COUNT-3: bar.sync

func.func @columns(%rank: !llvm.ptr, %x: memref<512x1280xf32>, %s: memref<1280xf32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]}
    ins(%x : memref<512x1280xf32>) outs(%s : memref<1280xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK: gpu.func @columns_16x65536_{{.*}}known_grid_size = array<i32: 512, 1, 1>
// CHECK: scf.for {{.*}} to %c16 step %c16 iter_args
// CHECK-COUNT-2: vector.load {{.*}} {alignment = 16 : i64} : memref<1048576xf32>, vector<4xf32>

// PTX: .entry columns_16x65536_
// PTX: ld.global.nc.v4.b32

func.func @wide_columns(%rank: !llvm.ptr, %x: memref<16x65536xf32>, %s: memref<65536xf32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]}
    ins(%x : memref<16x65536xf32>) outs(%s : memref<65536xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}

// All threads meet at barriers, also those that have no column.

// CHECK: gpu.func @columns_100x17_
// CHECK: arith.select
// CHECK: arith.maximumf
// CHECK: gpu.barrier

func.func @few_columns(%rank: !llvm.ptr, %x: memref<100x17xf32>, %s: memref<17xf32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]}
    ins(%x : memref<100x17xf32>) outs(%s : memref<17xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  }
  return
}

// Tokens may meet in a row, where the last one stays; columns never meet: a thread
// for each column.

// CHECK: gpu.func @loops_{{.*}}known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 5, 1, 1>
// CHECK: scf.for {{.*}} to %c512
// CHECK-NOT: scf.for
// CHECK: gpu.return

func.func @overwrite(%rank: !llvm.ptr, %tokens: memref<512xi32>, %g: memref<512x320xf32>, %table: memref<256x320xf32>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c320 = arith.constant 320 : index
  %c512 = arith.constant 512 : index
  scf.for %i = %c0 to %c512 step %c1 {
    scf.for %j = %c0 to %c320 step %c1 {
      %t = memref.load %tokens[%i] : memref<512xi32>
      %r = arith.index_cast %t : i32 to index
      %a = memref.load %g[%i, %j] : memref<512x320xf32>
      memref.store %a, %table[%r, %j] : memref<256x320xf32>
    }
  }
  return
}

// Nothing is parallel.

// CHECK: gpu.func @loops_{{.*}}known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
// CHECK: arith.cmpi ult, %{{.*}}, %c1
// CHECK: scf.for {{.*}} to %c512

func.func @last(%rank: !llvm.ptr, %tokens: memref<512xi32>, %table: memref<256xf32>) attributes {pipe.num_results = 1 : i64} {
  %one = arith.constant 1.0 : f32
  %half = arith.constant 0.5 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c512 = arith.constant 512 : index
  scf.for %i = %c0 to %c512 step %c1 {
    %t = memref.load %tokens[%i] : memref<512xi32>
    %r = arith.index_cast %t : i32 to index
    %o = memref.load %table[%r] : memref<256xf32>
    %m = arith.mulf %o, %half : f32
    %s = arith.addf %m, %one : f32
    memref.store %s, %table[%r] : memref<256xf32>
  }
  return
}

// A combiner that nobody knows is applied in order.

// CHECK: gpu.func @fallback_300x20_{{.*}}known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 2, 1, 1>
// CHECK: scf.for {{.*}} to %c20

func.func @recurrence(%rank: !llvm.ptr, %x: memref<300x20xf32>, %s: memref<300xf32>) attributes {pipe.num_results = 1 : i64} {
  // expected-remark @+1 {{no fast form for this kernel}}
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<300x20xf32>) outs(%s : memref<300xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.mulf %o, %a : f32
    %r = arith.addf %m, %a : f32
    linalg.yield %r : f32
  }
  return
}
