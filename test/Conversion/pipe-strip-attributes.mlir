// RUN: veeline-opt %s --pipe-strip-attributes | FileCheck %s

// CHECK: func.func @f(%arg0: memref<4xf32> {llvm.noalias}) -> f32 attributes {other} {
func.func @f(%x: memref<4xf32> {pipe.role = #pipe.role<operand 0>, llvm.noalias}) -> (f32 {pipe.role = #pipe.role<result 0>})
    attributes {pipe.num_results = 1 : i64, pipe.kernel, other} {
  %0 = arith.constant 0.0 : f32
  return %0 : f32
}
