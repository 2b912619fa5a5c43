// REQUIRES: cuda-toolkit
// RUN: veeline-opt %S/libdevice.mlir --pipe-gpu-code -o %t.mlir
// RUN: veeline-gpu-code %t.mlir --ptx-of=sm_90 | FileCheck %s
// RUN: veeline-gpu-code %t.mlir --chips=sm_80,sm_90,sm_100 | FileCheck %s --check-prefix=USES

// The function is inlined, and only it is linked.

// CHECK: .visible .entry exp(
// CHECK-NOT: .func
// CHECK-NOT: call
// CHECK: fma.rn.f64
// USES: sm_80 exp: {{[0-9]+}} registers, 0 shared, 0 spilled, 0 stack
// USES: sm_90 exp
// USES: sm_100 exp
