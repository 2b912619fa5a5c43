// RUN: veeline-opt %s --pipe-launch-kernels | FileCheck %s

// A launch without arguments has a place for them all the same.

// CHECK: num_arguments = 0 : i64
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @nothing() kernel {
      gpu.return
    }
  }
  func.func private @kernel() attributes {pipe.kernel, pipe.gpu_kernel = @kernels::@nothing} {
    return
  }
  // CHECK-LABEL: func.func @step(
  // CHECK-SAME:    %[[RANK:.*]]: !llvm.ptr)
  // CHECK:         %[[NONE:.*]] = llvm.mlir.constant(0 : i64)
  // CHECK:         %[[ARGS:.*]] = llvm.alloca %[[NONE]] x i64
  // CHECK:         call @veeline_launch(%[[RANK]], %{{.*}}, %[[ARGS]])
  func.func @step(%rank: !llvm.ptr) {
    call @kernel() : () -> ()
    return
  }
}
