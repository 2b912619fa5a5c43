// RUN: veeline-opt %s --pipe-gpu-code -o %t.mlir
// RUN: FileCheck %s --check-prefix=NVVM < %t.mlir
// RUN: veeline-gpu-code %t.mlir --ptx-of=sm_80 | FileCheck %s --check-prefixes=PTX,PTX80
// RUN: veeline-gpu-code %t.mlir --ptx-of=sm_90 | FileCheck %s --check-prefixes=PTX,PTX90
// RUN: veeline-gpu-code %t.mlir --ptx-of=sm_100 | FileCheck %s --check-prefixes=PTX,PTX100

// PTX alone is an image without a toolkit; a zero ends it.

// RUN: veeline-gpu-code %t.mlir --chips=ptx -o %t.ptx | FileCheck %s --check-prefix=IMAGE
// RUN: FileCheck %s --check-prefixes=PTX,PTX80 < %t.ptx
// RUN: tail -c 1 %t.ptx | od -An -t u1 | FileCheck %s --check-prefix=ZERO
// IMAGE: toolkit '', ptx 'sm_80'
// ZERO: {{^ *0$}}

// NVVM: gpu.module @kernels
// NVVM: llvm.func @scale(%{{.*}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr {llvm.noalias})
// NVVM-SAME: nvvm.kernel
// NVVM-NOT: memref
// NVVM-NOT: unrealized

// Four numbers at once, no contraction of product and sum, an fma where one is
// named, polynomials of our own.

// PTX80: .version 7.0
// PTX80-NEXT: .target sm_80
// PTX90: .version 7.8
// PTX90-NEXT: .target sm_90
// PTX100: .version 8.6
// PTX100-NEXT: .target sm_100
// PTX: .visible .entry scale(
// PTX: ld.global.nc.{{v4.b32|v2.b64}}
// PTX: mul.rn.f32
// PTX: add.rn.f32
// PTX: st.global.{{v4.b32|v2.b64}}
// PTX: .visible .entry functions(
// PTX-NOT: __nv
// PTX: fma.rn.f32

// A loop that is said to stay one does so.

// NVVM: llvm.func @rolled
// NVVM: llvm.br {{.*}} {loop_annotation = #{{.*}}}
// PTX: .visible .entry rolled(
// PTX: .pragma "nounroll";
// PTX-COUNT-1: ld.shared
// PTX-NOT: ld.shared
// PTX: ret;

#unroll = #llvm.loop_unroll<disable = true>
#stays = #llvm.loop_annotation<unroll = #unroll>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @scale(%x: memref<1024xf32> {llvm.noalias, llvm.readonly}, %y: memref<1024xf32> {llvm.noalias}) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c4 = arith.constant 4 : index
      %t = gpu.thread_id x
      %i = arith.muli %t, %c4 : index
      %v = vector.load %x[%i] {alignment = 16 : i64} : memref<1024xf32>, vector<4xf32>
      %p = arith.mulf %v, %v : vector<4xf32>
      %s = arith.addf %p, %v : vector<4xf32>
      vector.store %s, %y[%i] {alignment = 16 : i64} : memref<1024xf32>, vector<4xf32>
      gpu.return
    }
    gpu.func @functions(%x: memref<1024xf32> {llvm.noalias}, %y: memref<1024xf32> {llvm.noalias}) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>} {
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<1024xf32>
      %e = math.exp %v : f32
      %f = math.fma %e, %v, %e : f32
      %g = math.tanh %f : f32
      memref.store %g, %y[%t] : memref<1024xf32>
      gpu.return
    }
    gpu.func @rolled(%x: memref<1024xf32> {llvm.noalias}) workgroup(%shared: memref<32xf32, #gpu.address_space<workgroup>>) kernel
        attributes {known_block_size = array<i32: 32, 1, 1>} {
      %zero = arith.constant 0.0 : f32
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c32 = arith.constant 32 : index
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<1024xf32>
      memref.store %v, %shared[%t] : memref<32xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %sum = scf.for %i = %c0 to %c32 step %c1 iter_args(%s = %zero) -> f32 {
        %a = memref.load %shared[%i] : memref<32xf32, #gpu.address_space<workgroup>>
        %next = arith.addf %s, %a : f32
        scf.yield %next : f32
      } {llvm.loop_annotation = #stays}
      memref.store %sum, %x[%t] : memref<1024xf32>
      gpu.return
    }
  }
}
