// REQUIRES: cuda-toolkit
// RUN: veeline-opt %s --pipe-gpu-code -o %t.mlir
// RUN: veeline-gpu-code %t.mlir --chips=sm_80,sm_90,sm_100,ptx -o %t.fatbin --max-registers=32 | FileCheck %s
// RUN: head -c 4 %t.fatbin | od -An -t x1 | FileCheck %s --check-prefix=MAGIC
// RUN: veeline-gpu-code %t.mlir --chips=sm_86,sm_87,sm_89,sm_90a,sm_100a,sm_120 | FileCheck %s --check-prefix=OTHERS
// RUN: not veeline-gpu-code %t.mlir --chips=sm_90 --max-registers=4 | FileCheck %s --check-prefix=BOUND

// One image for three chips and those after them; what the assembler says of each.

// CHECK: toolkit '{{[0-9]+\.[0-9]+}}', ptx 'sm_100'
// CHECK-NEXT: sm_80 exchange: {{[0-9]+}} registers, 32 shared, 0 spilled, 0 stack{{$}}
// CHECK-NEXT: sm_80 other: {{[0-9]+}} registers, 0 shared, 0 spilled, 0 stack{{$}}
// CHECK-NEXT: sm_90 exchange: {{[0-9]+}} registers, 32 shared
// CHECK-NEXT: sm_90 other
// CHECK-NEXT: sm_100 exchange
// CHECK-NEXT: sm_100 other
// MAGIC: 50 ed 55 ba

// OTHERS: ptx ''
// OTHERS: sm_120 other
// BOUND: sm_90 exchange: {{.*}} TOO MUCH
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @exchange(%x: memref<256xf32> {llvm.noalias})
        workgroup(%shared : memref<8xf32, #gpu.address_space<workgroup>>) kernel
        attributes {known_block_size = array<i32: 256, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c32 = arith.constant 32 : index
      %t = gpu.thread_id x
      %warp = arith.divui %t, %c32 : index
      %v = memref.load %x[%t] : memref<256xf32>
      memref.store %v, %shared[%warp] : memref<8xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %w = memref.load %shared[%c0] : memref<8xf32, #gpu.address_space<workgroup>>
      memref.store %w, %x[%t] : memref<256xf32>
      gpu.return
    }
    gpu.func @other(%x: memref<256xf32> {llvm.noalias}) kernel {
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<256xf32>
      %w = arith.addf %v, %v : f32
      memref.store %w, %x[%t] : memref<256xf32>
      gpu.return
    }
  }
}
