// RUN: veeline-opt %s --pipe-host-code | FileCheck %s

// bf16 is computed in f32, and converted by operations on bits: no instruction
// that only some CPUs have, nor a function of the C library.

// CHECK-LABEL: llvm.func @arithmetic
// CHECK-NOT:     fptrunc
// CHECK-NOT:     fpext
// CHECK-NOT:     fmul {{.*}} : bf16
// CHECK:         llvm.shl
// CHECK:         llvm.fmul {{.*}} : f32
// CHECK:         llvm.lshr
// CHECK:         llvm.trunc {{.*}} : i32 to i16
func.func @arithmetic(%x: bf16, %to: memref<bf16>) {
  %y = arith.mulf %x, %x : bf16
  memref.store %y, %to[] : memref<bf16>
  return
}

// CHECK-LABEL: llvm.func @lanes
// CHECK-NOT:     fptrunc
// CHECK:         llvm.trunc {{.*}} : vector<16xi32> to vector<16xi16>
func.func @lanes(%from: memref<16xf32>, %to: memref<16xbf16>) {
  %zero = arith.constant 0 : index
  %x = vector.load %from[%zero] : memref<16xf32>, vector<16xf32>
  %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  vector.store %y, %to[%zero] : memref<16xbf16>, vector<16xbf16>
  return
}

// What only passes from block to block is an integer: LLVM would extend it there,
// and round it again.

// CHECK-LABEL: llvm.func @carried
// CHECK:         %[[ONE:.*]] = llvm.mlir.constant(16256 : i16) : i16
// CHECK:         llvm.br ^{{.*}}(%{{.*}}, %[[ONE]] : i64, i16)
// CHECK:         %[[X:.*]] = llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK:         llvm.select %{{.*}}, %{{.*}}, %[[X]] : i1, i16
// CHECK:         llvm.store %{{.*}} : i16, !llvm.ptr
func.func @carried(%from: memref<8xbf16>, %to: memref<bf16>) {
  %one = arith.constant 1.0 : bf16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %last = scf.for %i = %c0 to %c8 step %c1 iter_args(%before = %one) -> (bf16) {
    %x = memref.load %from[%i] : memref<8xbf16>
    %is_first = arith.cmpi eq, %i, %c0 : index
    %next = arith.select %is_first, %before, %x : bf16
    scf.yield %next : bf16
  }
  memref.store %last, %to[] : memref<bf16>
  return
}
