// RUN: veeline-opt %s --pipe-bufferize-chunks | FileCheck %s
// RUN: veeline-opt %s --pipe-bufferize-chunks --pipe-host-code | FileCheck %s --check-prefix=LLVM
// RUN: veeline-opt %s --pipe-bufferize-chunks --pipe-host-code | mlir-translate --mlir-to-llvmir | FileCheck %s --check-prefix=IR

// CHECK: func.func private @layer_forward(
// CHECK-SAME: %{{.*}}: !llvm.ptr,
// CHECK-SAME: memref<512x64xf32> {pipe.role = #pipe.role<operand 0>}
// CHECK-SAME: memref<64x64xf32> {pipe.role = #pipe.role<operand 1>}
// CHECK-SAME: memref<512x64xf32> {pipe.role = #pipe.role<result 0>}
// CHECK-SAME: memref<131072xi8>)
// CHECK: call @veeline_gemm
// CHECK: call @kernel

// LLVM: llvm.func @veeline_gemm
// LLVM: llvm.func internal @kernel
// LLVM-NOT: memref
// LLVM-NOT: pipe.role

// Nothing allows the optimiser to change a result.

// IR: define internal void @kernel(ptr noalias %0, ptr noalias %1)
// IR-NOT: fast
// IR-NOT: contract
func.func private @layer_forward(%x: tensor<512x64xf32> {pipe.role = #pipe.role<operand 0>}, %w: tensor<64x64xf32> {pipe.role = #pipe.role<operand 1>})
    -> (tensor<512x64xf32> {pipe.role = #pipe.role<result 0>}) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x64xf32>) -> tensor<512x64xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<512x64xf32>, tensor<64x64xf32>) outs(%f : tensor<512x64xf32>) -> tensor<512x64xf32>
  %1 = linalg.tanh ins(%0 : tensor<512x64xf32>) outs(%e : tensor<512x64xf32>) -> tensor<512x64xf32>
  return %1 : tensor<512x64xf32>
}
