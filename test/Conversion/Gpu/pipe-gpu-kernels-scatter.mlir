// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --pipe-gpu-kernels -o %t.ordered.mlir
// RUN: FileCheck %s < %t.ordered.mlir
// RUN: veeline-opt %t.ordered.mlir --pipe-gpu-code -o %t.ordered.nvvm.mlir
// RUN: veeline-gpu-code %t.ordered.nvvm.mlir --ptx-of=sm_80 | FileCheck %s --check-prefix=PTX
// RUN: veeline-gpu-run %t.ordered.mlir | FileCheck %s --check-prefix=EMULATED
// RUN: veeline-opt %s --pipe-outline-kernels=target=cuda --pipe-gpu-kernels=deterministic=false -o %t.atomic.mlir
// RUN: FileCheck %s --check-prefix=ATOMIC < %t.atomic.mlir
// RUN: veeline-opt %t.atomic.mlir --pipe-gpu-code -o %t.atomic.nvvm.mlir
// RUN: veeline-gpu-code %t.atomic.nvvm.mlir --ptx-of=sm_80 | FileCheck %s --check-prefix=RED
// RUN: not veeline-gpu-run %t.atomic.mlir | FileCheck %s --check-prefix=ATOMICALLY

// Sums in the order of the host, bit for bit. Atomic ones depend on the order of
// threads but for those that are exact.

// EMULATED-COUNT-6: scatter_{{.*}}: same bits
// EMULATED-NEXT: 6 kernels, 6 with the bits of their twins, 0 wrong
// ATOMICALLY-COUNT-2: depends on the order in which threads run
// ATOMICALLY-NEXT: same bits
// ATOMICALLY-COUNT-2: depends on the order in which threads run
// ATOMICALLY-NEXT: same bits
// ATOMICALLY-NEXT: 6 kernels, 2 with the bits of their twins, 4 wrong

// Ballots, and what eight tokens add is loaded side by side before anything is
// added; two columns are one access.

// PTX: .visible .entry scatter_
// PTX: vote.sync.ballot.b32
// PTX: bar.sync
// PTX: popc.b32
// PTX: bar.sync
// PTX-COUNT-8: ld.global.nc.v2.{{b32|f32}}
// PTX: add.rn.f32
// PTX: st.global.v2.{{b32|f32}}
// PTX-NOT: {{(atom|red)}}.global

// RED: .visible .entry scatter_
// RED-NOT: bar.sync
// RED: {{red|atom}}.{{.*}}global{{.*}}.add.f32
// RED-NOT: membar

// An embedding: a block owns some of 50257 rows and has all columns.

// CHECK-LABEL: gpu.func @scatter_
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 1024, 1, 1>
// CHECK: scf.for {{.*}} to %c512{{.*}} step %c512
// CHECK-COUNT-4: nvvm.vote.sync
// CHECK: gpu.barrier
// CHECK: math.ctpop
// CHECK: gpu.barrier
// CHECK: scf.for
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return

// ATOMIC-LABEL: gpu.func @scatter_
// ATOMIC-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 512, 1, 1>
// ATOMIC-NOT: scf.for
// ATOMIC: memref.atomic_rmw addf
// ATOMIC: gpu.return

func.func @embedding(%rank: !llvm.ptr, %tokens: memref<2x256xi32>, %g: memref<2x256x256xf32>, %table: memref<50257x256xf32>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c256 = arith.constant 256 : index
  scf.for %b = %c0 to %c2 step %c1 {
    scf.for %i = %c0 to %c256 step %c1 {
      %t = memref.load %tokens[%b, %i] : memref<2x256xi32>
      %r = arith.index_cast %t : i32 to index
      scf.for %j = %c0 to %c256 step %c1 {
        %a = memref.load %g[%b, %i, %j] : memref<2x256x256xf32>
        %o = memref.load %table[%r, %j] : memref<50257x256xf32>
        %s = arith.addf %o, %a : f32
        memref.store %s, %table[%r, %j] : memref<50257x256xf32>
      }
    }
  }
  return
}

// Three rows, which many tokens meet in; columns that are no whole number of blocks,
// and no pairs; what is added is computed.

// CHECK-LABEL: gpu.func @scatter_
// CHECK-SAME: known_block_size = array<i32: 192, 1, 1>, known_grid_size = array<i32: 3, 2, 1>

func.func @crowded(%rank: !llvm.ptr, %tokens: memref<1000xi32>, %g: memref<1000x363xf32>, %scale: memref<1000xf32>, %table: memref<3x363xf32>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c363 = arith.constant 363 : index
  %c1000 = arith.constant 1000 : index
  scf.for %i = %c0 to %c1000 step %c1 {
    scf.for %j = %c0 to %c363 step %c1 {
      %t = memref.load %tokens[%i] : memref<1000xi32>
      %r = arith.index_cast %t : i32 to index
      %a = memref.load %g[%i, %j] : memref<1000x363xf32>
      %f = memref.load %scale[%i] : memref<1000xf32>
      %m = arith.mulf %a, %f : f32
      %o = memref.load %table[%r, %j] : memref<3x363xf32>
      %s = arith.addf %m, %o : f32
      memref.store %s, %table[%r, %j] : memref<3x363xf32>
    }
  }
  return
}

// Rows of one number.

// CHECK-LABEL: gpu.func @scatter_
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 40, 1, 1>

func.func @count(%rank: !llvm.ptr, %tokens: memref<700xi32>, %table: memref<40xf32>) attributes {pipe.num_results = 1 : i64} {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c700 = arith.constant 700 : index
  scf.for %i = %c0 to %c700 step %c1 {
    %t = memref.load %tokens[%i] : memref<700xi32>
    %r = arith.index_cast %t : i32 to index
    %o = memref.load %table[%r] : memref<40xf32>
    %s = arith.addf %o, %one : f32
    memref.store %s, %table[%r] : memref<40xf32>
  }
  return
}

// The row is a place in a table of each sample: samples are no columns, since the
// index depends on them.

// CHECK-LABEL: gpu.func @scatter_
// CHECK-SAME: known_grid_size = array<i32: 15, 1, 1>

func.func @of_each(%rank: !llvm.ptr, %tokens: memref<3x60xi32>, %g: memref<3x60x10xf32>, %table: memref<3x5x10xf32>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c10 = arith.constant 10 : index
  %c60 = arith.constant 60 : index
  scf.for %b = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c60 step %c1 {
      scf.for %j = %c0 to %c10 step %c1 {
        %t = memref.load %tokens[%b, %i] : memref<3x60xi32>
        %r = arith.index_cast %t : i32 to index
        %a = memref.load %g[%b, %i, %j] : memref<3x60x10xf32>
        %o = memref.load %table[%b, %r, %j] : memref<3x5x10xf32>
        %s = arith.addf %o, %a : f32
        memref.store %s, %table[%b, %r, %j] : memref<3x5x10xf32>
      }
    }
  }
  return
}

// Two indices, columns outside of the loop over tokens and in front of the rows.

// CHECK-LABEL: gpu.func @scatter_
// CHECK-SAME: known_grid_size = array<i32: 24, 1, 1>

func.func @columns_outside(%rank: !llvm.ptr, %x: memref<90xi32>, %y: memref<90xi32>, %g: memref<90x12xf64>, %table: memref<12x4x6xf64>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c12 = arith.constant 12 : index
  %c90 = arith.constant 90 : index
  scf.for %j = %c0 to %c12 step %c1 {
    scf.for %i = %c0 to %c90 step %c1 {
      %t = memref.load %x[%i] : memref<90xi32>
      %r = arith.index_cast %t : i32 to index
      %u = memref.load %y[%i] : memref<90xi32>
      %q = arith.index_cast %u : i32 to index
      %a = memref.load %g[%i, %j] : memref<90x12xf64>
      %o = memref.load %table[%j, %r, %q] : memref<12x4x6xf64>
      %s = arith.addf %o, %a : f64
      memref.store %s, %table[%j, %r, %q] : memref<12x4x6xf64>
    }
  }
  return
}

// Integers.

// CHECK-LABEL: gpu.func @scatter_
// CHECK: arith.addi %{{.*}} : i32
// ATOMIC: memref.atomic_rmw addi

func.func @integers(%rank: !llvm.ptr, %tokens: memref<64xi32>, %g: memref<64x8xi32>, %table: memref<20x8xi32>) attributes {pipe.num_results = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  scf.for %i = %c0 to %c64 step %c1 {
    %t = memref.load %tokens[%i] : memref<64xi32>
    %r = arith.index_cast %t : i32 to index
    scf.for %j = %c0 to %c8 step %c1 {
      %a = memref.load %g[%i, %j] : memref<64x8xi32>
      %o = memref.load %table[%r, %j] : memref<20x8xi32>
      %s = arith.addi %o, %a : i32
      memref.store %s, %table[%r, %j] : memref<20x8xi32>
    }
  }
  return
}
