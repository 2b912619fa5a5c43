// Functions of f64 are those of the CUDA toolkit's libdevice.

// RUN: veeline-opt %s --pipe-gpu-code -o %t.mlir
// RUN: FileCheck %s --check-prefix=NVVM < %t.mlir
// RUN: rm -rf %t.toolkit && mkdir -p %t.toolkit/bin
// RUN: printf '#!/bin/sh\necho release 13.0, V13.0.0' > %t.toolkit/bin/ptxas
// RUN: cp %t.toolkit/bin/ptxas %t.toolkit/bin/fatbinary
// RUN: chmod +x %t.toolkit/bin/ptxas %t.toolkit/bin/fatbinary
// RUN: not veeline-gpu-code %t.mlir --ptx-of=sm_80 --toolkit=%t.toolkit 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not veeline-gpu-code %t.mlir --ptx-of=sm_80 --toolkit=%t.none 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: mkdir -p %t.toolkit/nvvm/libdevice && echo garbage > %t.toolkit/nvvm/libdevice/libdevice.10.bc
// RUN: not veeline-gpu-code %t.mlir --ptx-of=sm_80 --toolkit=%t.toolkit 2>&1 | FileCheck %s --check-prefix=GARBAGE

// NVVM: llvm.func @__nv_exp(f64) -> f64
// NVVM: llvm.call @__nv_exp
// MISSING: error: a kernel needs __nv_exp of libdevice, but '{{.*}}.toolkit/nvvm/libdevice/libdevice.10.bc' cannot be read: No such file
// NONE: error: a kernel needs __nv_exp of the CUDA toolkit's libdevice: no CUDA toolkit in '{{.*}}.none', which the option of the toolkit names
// GARBAGE: libdevice.10.bc' is no library of LLVM's bitcode
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @exp(%x: memref<256xf64> {llvm.noalias}) kernel {
      %t = gpu.thread_id x
      %v = memref.load %x[%t] : memref<256xf64>
      %w = math.exp %v : f64
      memref.store %w, %x[%t] : memref<256xf64>
      gpu.return
    }
  }
}
