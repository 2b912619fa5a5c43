// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --pipe-gpu-kernels --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: veeline-opt %t.mlir --pipe-gpu-code | veeline-gpu-code --ptx-of=sm_80 | FileCheck %s --check-prefix=PTX

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>
#i = affine_map<(i, j) -> (i)>

// A thread has four numbers of 4 bytes. The bias runs along, so it is an access,
// too; 512 x 1280 is a multiple of what a block has, so nobody compares anything.

// CHECK: func.func private @[[KERNEL:.*]](%{{.*}}pipe.gpu_kernel = @kernels::@elementwise_512x1280_[[HASH:[0-9a-f]+]], pipe.kernel
// CHECK: gpu.module @kernels
// CHECK: gpu.func @elementwise_512x1280_[[HASH]](%[[X:.*]]: memref<512x1280xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %[[B:.*]]: memref<1280xf32> {llvm.align = 16 : i64, llvm.noalias, llvm.readonly}, %[[Y:.*]]: memref<512x1280xf32> {llvm.align = 16 : i64, llvm.noalias})
// CHECK-SAME: kernel attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 640, 1, 1>}
// CHECK-NOT: scf.if
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<655360xf32>, vector<4xf32>
// CHECK: %[[COLUMN:.*]] = arith.remui
// CHECK: vector.load %[[B]][%[[COLUMN]]] {alignment = 16 : i64} : memref<1280xf32>, vector<4xf32>
// CHECK: math.tanh {{.*}} : vector<4xf32>
// CHECK: vector.store {{.*}} {alignment = 16 : i64}

// PTX: .entry elementwise_512x1280_
// PTX-COUNT-2: ld.global.nc.v4.b32
// PTX-NOT: bra
// PTX: st.global.v4.b32

func.func @bias(%rank: !llvm.ptr, %x: memref<512x1280xf32>, %b: memref<1280xf32>, %y: memref<512x1280xf32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#ij, #j, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x, %b : memref<512x1280xf32>, memref<1280xf32>) outs(%y : memref<512x1280xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %s = arith.addf %a, %c : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  }
  return
}

// Eight of 2 bytes.

// CHECK: gpu.func @elementwise_64x128_
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<8192xbf16>, vector<8xbf16>
// CHECK: vector.store
// PTX: .entry elementwise_64x128_
// PTX: ld.global.nc.v4.b32
// PTX: st.global.v4.b32

func.func @half(%rank: !llvm.ptr, %x: memref<64x128xbf16>, %y: memref<64x128xbf16>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<64x128xbf16>) outs(%y : memref<64x128xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    %w = arith.extf %a : bf16 to f32
    %s = arith.addf %w, %w : f32
    %n = arith.truncf %s : f32 to bf16
    linalg.yield %n : bf16
  }
  return
}

// Rows of nine elements have a number of their own each, so a thread has one
// element: of 64 threads 63 do something.

// CHECK: gpu.func @elementwise_7x9_
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
// CHECK: %[[EXISTS:.*]] = arith.cmpi ult, %[[I:.*]], %c63
// CHECK: scf.if %[[EXISTS]]
// CHECK:   memref.load %{{.*}}[%[[I]]]
// CHECK:   %[[ROW:.*]] = arith.divui %[[I]], %c9
// CHECK:   memref.load %{{.*}}[%[[ROW]]]

func.func @odd(%rank: !llvm.ptr, %x: memref<7x9xf32>, %s: memref<7xf32>, %y: memref<7x9xf32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x, %s : memref<7x9xf32>, memref<7xf32>) outs(%y : memref<7x9xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %m = arith.mulf %a, %c : f32
    linalg.yield %m : f32
  }
  return
}

// Indices are computed from the number of the thread.

// CHECK: gpu.func @elementwise_128x128_
// CHECK: arith.cmpi ule, {{.*}} : vector<4xindex>
// CHECK: arith.select
// PTX: .entry elementwise_128x128_
// PTX: ld.global.nc.v4.b32
// PTX: st.global.v4.b32

func.func @mask(%rank: !llvm.ptr, %x: memref<128x128xf32>, %y: memref<128x128xf32>) attributes {pipe.num_results = 1 : i64} {
  %low = arith.constant 0xFF800000 : f32
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<128x128xf32>) outs(%y : memref<128x128xf32>) {
  ^bb0(%a: f32, %o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi ule, %j, %i : index
    %m = arith.select %c, %a, %low : f32
    linalg.yield %m : f32
  }
  return
}

// What one op writes the next one has.

// CHECK: gpu.func @elementwise_64x96_
// CHECK: vector.load
// CHECK-NOT: vector.load
// CHECK-COUNT-2: vector.store

func.func @chain(%rank: !llvm.ptr, %x: memref<64x96xf32>, %y: memref<64x96xf32>, %z: memref<64x96xf32>) attributes {pipe.num_results = 2 : i64} {
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x : memref<64x96xf32>) outs(%y : memref<64x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = arith.addf %a, %a : f32
    linalg.yield %e : f32
  }
  linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%y : memref<64x96xf32>) outs(%z : memref<64x96xf32>) {
  ^bb0(%a: f32, %o: f32):
    %e = arith.mulf %a, %a : f32
    linalg.yield %e : f32
  }
  return
}

// A table's row is read along.

// CHECK: gpu.func @elementwise_512x320_
// CHECK: %[[TOKEN:.*]] = memref.load {{.*}} : memref<512xi32>
// CHECK: %[[ROW:.*]] = arith.index_cast %[[TOKEN]]
// CHECK: vector.load %{{.*}}[%[[ROW]], %{{.*}}] : memref<256x320xf32>, vector<4xf32>
// PTX: .entry elementwise_512x320_
// PTX: ld.global.nc.v4.b32

func.func @gather(%rank: !llvm.ptr, %table: memref<256x320xf32>, %tokens: memref<512xi32>, %y: memref<512x320xf32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%tokens : memref<512xi32>) outs(%y : memref<512x320xf32>) {
  ^bb0(%t: i32, %o: f32):
    %r = arith.index_cast %t : i32 to index
    %j = linalg.index 1 : index
    %e = memref.load %table[%r, %j] : memref<256x320xf32>
    linalg.yield %e : f32
  }
  return
}

// CHECK: gpu.func @scalars_1x1_
// CHECK-SAME: known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 1, 1, 1>
// CHECK: arith.cmpi ult, %{{.*}}, %c1
// CHECK: arith.negf

func.func @one(%rank: !llvm.ptr, %x: memref<f32>, %y: memref<f32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
    ins(%x : memref<f32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %o: f32):
    %e = arith.negf %a : f32
    linalg.yield %e : f32
  }
  return
}
