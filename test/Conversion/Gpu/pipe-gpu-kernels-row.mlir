// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --pipe-gpu-kernels --canonicalize --cse -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: veeline-opt %t.mlir --pipe-gpu-code | veeline-gpu-code --ptx-of=sm_80 | FileCheck %s --check-prefix=PTX

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

// A warp for a row, eight of them in a block. The row is read once and written
// once; maximum and sum go from thread to thread.

// CHECK: gpu.func @row_512x128_{{.*}}known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 64, 1, 1>
// CHECK-NOT: workgroup
// CHECK: vector.load {{.*}} {alignment = 16 : i64} : memref<65536xf32>, vector<4xf32>
// CHECK-NOT: {{(vector|memref).(load|store)}}
// CHECK: arith.maximumf
// CHECK: gpu.shuffle {{ *}}xor %{{.*}}, %c16_i32
// CHECK: gpu.shuffle {{ *}}xor %{{.*}}, %c8_i32
// CHECK: gpu.shuffle {{ *}}xor %{{.*}}, %c4_i32
// CHECK: gpu.shuffle {{ *}}xor %{{.*}}, %c2_i32
// CHECK: gpu.shuffle {{ *}}xor %{{.*}}, %c1_i32
// CHECK-NOT: {{(vector|memref).(load|store)}}
// CHECK: math.exp {{.*}} : vector<4xf32>
// CHECK-NOT: {{(vector|memref).(load|store)}}
// CHECK-COUNT-5: gpu.shuffle
// CHECK: arith.divf
// CHECK: vector.store {{.*}} {alignment = 16 : i64}
// CHECK-NOT: vector.store
// CHECK: gpu.return

// PTX: .entry row_512x128_
// PTX: ld.global.nc.v4.b32
// PTX: max.NaN.f32
// PTX-COUNT-10: shfl.sync.bfly.b32
// PTX-COUNT-4: div.rn.f32
// PTX: st.global.v4.b32

func.func @warp(%rank: !llvm.ptr, %x: memref<512x128xf32>, %y: memref<512x128xf32>) attributes {pipe.num_results = 1 : i64} {
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

// A block for a row: warps meet in shared memory, once for each reduction.

// CHECK: gpu.func @row_64x2048_{{.*}} workgroup(%{{.*}} : memref<8xf32, #gpu.address_space<workgroup>>, %{{.*}} : memref<8xf32, #gpu.address_space<workgroup>>)
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 64, 1, 1>
// CHECK-COUNT-2: vector.load
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK-COUNT-2: vector.store
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// PTX: .entry row_64x2048_
// PTX-COUNT-2: ld.global.nc.v4.b32
// PTX-COUNT-5: shfl.sync.bfly.b32
// PTX: bar.sync
// PTX: bar.sync

func.func @block(%rank: !llvm.ptr, %x: memref<64x2048xf32>, %y: memref<64x2048xf32>) attributes {pipe.num_results = 1 : i64} {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %max = memref.alloc() : memref<64xf32>
  %sum = memref.alloc() : memref<64xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<64xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<64x2048xf32>) outs(%max : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x, %max : memref<64x2048xf32>, memref<64xf32>) outs(%y : memref<64x2048xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<64xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%y : memref<64x2048xf32>) outs(%sum : memref<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%y, %sum : memref<64x2048xf32>, memref<64xf32>) outs(%y : memref<64x2048xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  }
  return
}

// CHECK: gpu.func @row_8x16384_{{.*}}known_block_size = array<i32: 512, 1, 1>, known_grid_size = array<i32: 8, 1, 1>, nvvm.minctasm = 1 : i32
// CHECK-COUNT-8: vector.load
// CHECK-NOT: vector.load
// CHECK: gpu.return

func.func @wide(%rank: !llvm.ptr, %x: memref<8x16384xf32>, %y: memref<8x16384xf32>) attributes {pipe.num_results = 1 : i64} {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %max = memref.alloc() : memref<8xf32>
  %sum = memref.alloc() : memref<8xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<8xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<8x16384xf32>) outs(%max : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x, %max : memref<8x16384xf32>, memref<8xf32>) outs(%y : memref<8x16384xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<8xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%y : memref<8x16384xf32>) outs(%sum : memref<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%y, %sum : memref<8x16384xf32>, memref<8xf32>) outs(%y : memref<8x16384xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  }
  return
}

// Too wide for registers: what the first sweep reads stays in registers (seven rounds of 2048) and
// in shared memory (twelve), where the second one finds it. It reads the last round again,
// computes powers and adds them up. The third one reads all powers again. A multiprocessor has room
// for two blocks.

// CHECK: gpu.func @row_4x40000_{{.*}}workgroup(%[[KEPT:.*]] : memref<24576xf32, #gpu.address_space<workgroup>>, {{.*}}known_block_size = array<i32: 512, 1, 1>, known_grid_size = array<i32: 4, 1, 1>, nvvm.minctasm = 2 : i32
// CHECK-COUNT-7: vector.load {{.*}} : memref<160000xf32>
// CHECK: scf.for %{{.*}} = %c7 to %c19 step %c2
// CHECK-COUNT-2: vector.store {{.*}}, %[[KEPT]][
// CHECK: vector.load {{.*}} : memref<160000xf32>
// CHECK: arith.maximumf
// CHECK: gpu.barrier
// CHECK-NOT: vector.load {{.*}} : memref<160000xf32>
// CHECK: math.exp
// CHECK-COUNT-7: vector.store {{.*}} : memref<160000xf32>
// CHECK-NOT: vector.load {{.*}} : memref<160000xf32>
// CHECK-COUNT-2: vector.load %[[KEPT]][
// CHECK: vector.load {{.*}} : memref<160000xf32>
// CHECK-NOT: vector.load {{.*}} : memref<160000xf32>
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %c0 to %c18 step %c2
// CHECK: vector.load {{.*}} : memref<160000xf32>
// CHECK: arith.divf

func.func @long(%rank: !llvm.ptr, %x: memref<4x40000xf32>, %y: memref<4x40000xf32>) attributes {pipe.num_results = 1 : i64} {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %max = memref.alloc() : memref<4xf32>
  %sum = memref.alloc() : memref<4xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<4xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<4x40000xf32>) outs(%max : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x, %max : memref<4x40000xf32>, memref<4xf32>) outs(%y : memref<4x40000xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<4xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%y : memref<4x40000xf32>) outs(%sum : memref<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%y, %sum : memref<4x40000xf32>, memref<4xf32>) outs(%y : memref<4x40000xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  }
  return
}

// A cross entropy reads 50304 scores of bf16 once: seven rounds are in registers, eighteen in
// shared memory, written in a loop that stays one and two rests. Two blocks together take 144 KiB of
// the 164 that the smallest chip with matrix units for bf16 and large shared memory (sm_80) has.

// CHECK: gpu.func @row_2x50304_{{.*}}(%[[X:.*]]: memref<2x50304xbf16> {{.*}}workgroup(%[[KEPT:.*]] : memref<36864xbf16, #gpu.address_space<workgroup>>
// CHECK-COUNT-7: vector.load {{.*}} : memref<100608xbf16>
// CHECK: scf.for %{{.*}} = %c7 to %c23 step %c2
// CHECK-COUNT-2: vector.store {{.*}}, %[[KEPT]][
// CHECK: } {llvm.loop_annotation = #[[$STAYS:.*]]}
// CHECK-COUNT-2: vector.store {{.*}}, %[[KEPT]][
// CHECK-COUNT-5: gpu.shuffle
// CHECK: gpu.barrier
// CHECK-NOT: memref<100608xbf16>
// CHECK: math.exp
// CHECK-NOT: memref<100608xbf16>
// CHECK: scf.for %{{.*}} = %c7 to %c23 step %c2
// CHECK-COUNT-2: vector.load %[[KEPT]][
// CHECK-NOT: memref<100608xbf16>
// CHECK: gpu.return

// PTX: .entry row_2x50304_
// PTX: .minnctapersm 2
// PTX-COUNT-7: ld.global.nc.v4.b16
// PTX-COUNT-4: ld.global.nc.v2.b32
// PTX-NOT: ld.global.nc
// PTX: .entry row_2x50304_

func.func @cross_entropy(%rank: !llvm.ptr, %x: memref<2x50304xbf16>, %max: memref<2xf32>, %sum: memref<2xf32>) attributes {pipe.num_results = 2 : i64} {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%lowest : f32) outs(%max : memref<2xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<2x50304xbf16>) outs(%max : memref<2xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.maximumf %o, %w : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<2xf32>)
  linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x, %max : memref<2x50304xbf16>, memref<2xf32>) outs(%sum : memref<2xf32>) {
  ^bb0(%a: bf16, %m: f32, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %d = arith.subf %w, %m : f32
    %e = math.exp %d : f32
    %r = arith.addf %o, %e : f32
    linalg.yield %r : f32
  }
  return
}

// One of f32 takes 96 KiB, as much as every chip has, and reads the last six rounds again.

// CHECK: gpu.func @row_2x50304_{{.*}}workgroup(%{{.*}} : memref<24576xf32, #gpu.address_space<workgroup>>

// PTX: ld.global.nc.v4.b32
// PTX: st.shared.v4.b32
// PTX: ld.shared.v4.b32

func.func @cross_entropy_f32(%rank: !llvm.ptr, %x: memref<2x50304xf32>, %max: memref<2xf32>, %sum: memref<2xf32>) attributes {pipe.num_results = 2 : i64} {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%lowest : f32) outs(%max : memref<2xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<2x50304xf32>) outs(%max : memref<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<2xf32>)
  linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x, %max : memref<2x50304xf32>, memref<2xf32>) outs(%sum : memref<2xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %e = math.exp %d : f32
    %r = arith.addf %o, %e : f32
    linalg.yield %r : f32
  }
  return
}

// A layer norm in three sweeps, of rows longer than what can be kept: the rest,
// rounds 19 and later, is read by each of them.

// CHECK: gpu.func @row_2x81920_{{.*}}workgroup(%[[KEPT:.*]] : memref<24576xf32, #gpu.address_space<workgroup>>
// CHECK: scf.for %{{.*}} = %c7 to %c19
// CHECK: vector.store {{.*}}, %[[KEPT]][
// CHECK: scf.for %{{.*}} = %c19 to %c39
// CHECK-NOT: %[[KEPT]]
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} = %c7 to %c19
// CHECK: vector.load %[[KEPT]][
// CHECK: scf.for %{{.*}} = %c19 to %c39
// CHECK: vector.load {{.*}} : memref<163840xf32>

func.func @layer_norm(%rank: !llvm.ptr, %x: memref<2x81920xf32>, %y: memref<2x81920xf32>, %sum: memref<2xf32>, %squares: memref<2xf32>) attributes {pipe.num_results = 3 : i64} {
  %zero = arith.constant 0.0 : f32
  %inverse = arith.constant 1.52587890625e-05 : f32
  linalg.fill ins(%zero : f32) outs(%sum : memref<2xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<2x81920xf32>) outs(%sum : memref<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%squares : memref<2xf32>)
  linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x, %sum : memref<2x81920xf32>, memref<2xf32>) outs(%squares : memref<2xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %m = arith.mulf %s, %inverse : f32
    %d = arith.subf %a, %m : f32
    %q = arith.mulf %d, %d : f32
    %r = arith.addf %o, %q : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x, %sum, %squares : memref<2x81920xf32>, memref<2xf32>, memref<2xf32>) outs(%y : memref<2x81920xf32>) {
  ^bb0(%a: f32, %s: f32, %q: f32, %o: f32):
    %m = arith.mulf %s, %inverse : f32
    %d = arith.subf %a, %m : f32
    %v = arith.mulf %q, %inverse : f32
    %r = math.rsqrt %v : f32
    %p = arith.mulf %d, %r : f32
    linalg.yield %p : f32
  }
  return
}

// 77 elements: the same partial sums, but elements are loaded one by one. What
// does not exist is neutral. The last of 13 rows leaves three warps idle.

// CHECK: gpu.func @row_13x77_{{.*}}known_grid_size = array<i32: 2, 1, 1>
// CHECK: %[[ROW:.*]] = arith.cmpi ult, %{{.*}}, %c13
// CHECK: scf.if %[[ROW]]
// CHECK:   arith.cmpi ult, %{{.*}}, %c77
// CHECK-COUNT-4: memref.load
// CHECK:   arith.maximumf
// CHECK:   arith.select {{.*}} : vector<4xi1>, vector<4xf32>

func.func @odd(%rank: !llvm.ptr, %x: memref<13x77xf32>, %y: memref<13x77xf32>) attributes {pipe.num_results = 1 : i64} {
  %lowest = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %max = memref.alloc() : memref<13xf32>
  %sum = memref.alloc() : memref<13xf32>
  linalg.fill ins(%lowest : f32) outs(%max : memref<13xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<13x77xf32>) outs(%max : memref<13xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.maximumf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%x, %max : memref<13x77xf32>, memref<13xf32>) outs(%y : memref<13x77xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<13xf32>)
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%y : memref<13x77xf32>) outs(%sum : memref<13xf32>) {
  ^bb0(%a: f32, %o: f32):
    %r = arith.addf %o, %a : f32
    linalg.yield %r : f32
  }
  linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]}
    ins(%y, %sum : memref<13x77xf32>, memref<13xf32>) outs(%y : memref<13x77xf32>) {
  ^bb0(%a: f32, %s: f32, %o: f32):
    %r = arith.divf %a, %s : f32
    linalg.yield %r : f32
  }
  return
}

// What is added to is read by the thread that writes it, and sent to the others.
// Two bytes an element, but partial sums of four: half an access.

// CHECK: gpu.func @row_512x320_
// CHECK: vector.load {{.*}} {alignment = 8 : i64} : memref<163840xbf16>, vector<4xbf16>
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %{{.*}}, %c1
// CHECK: scf.if %[[FIRST]]
// CHECK:   memref.load {{.*}} : memref<512xf32>
// CHECK: gpu.shuffle {{ *}}idx
// CHECK: memref.store

func.func @sum(%rank: !llvm.ptr, %x: memref<512x320xbf16>, %s: memref<512xf32>) attributes {pipe.num_results = 1 : i64} {
  linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}
    ins(%x : memref<512x320xbf16>) outs(%s : memref<512xf32>) {
  ^bb0(%a: bf16, %o: f32):
    %w = arith.extf %a : bf16 to f32
    %r = arith.addf %o, %w : f32
    linalg.yield %r : f32
  }
  return
}
