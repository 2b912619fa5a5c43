//===- KernelCode.h - kernels compiled for a CPU ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles what pipe-gpu-kernels has written: the host twins to a library that
// KernelLibrary.h runs, and the kernels to PTX, which Emulation.h runs.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_KERNELCODE_H
#define VEELINE_TEST_GPU_KERNELCODE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/Error.h"

namespace veeline::gpu {

/// Registers what the passes of compileKernels need.
void registerKernelCode(mlir::DialectRegistry &registry);

/// A kernel of a module.
struct KernelSource {
  mlir::gpu::GPUFuncOp threads;
  /// The kernel function that it was made of.
  mlir::func::FuncOp twin;

  std::string name() { return threads.getName().str(); }
};

/// All kernels of a module, each once. Fails with a diagnostic where one has no
/// kernel function.
mlir::FailureOr<std::vector<KernelSource>> findKernels(mlir::ModuleOp module);

struct KernelCodeOptions {
  /// Check every access of memory before it happens.
  bool checkAccesses = false;
  unsigned optimizationLevel = 3;
  /// As HostTargetOptions have it.
  std::string cpu = "native";
};

/// Compiles the twins of `kernels` to a shared object. Diagnostics say what is
/// wrong with a kernel; the error only says that there is no code.
llvm::Expected<std::vector<char>>
compileTwins(llvm::ArrayRef<KernelSource> kernels,
             const KernelCodeOptions &options);

/// Compiles `kernels` to PTX for `chip`, as in "sm_90".
llvm::Expected<std::string> compilePtx(llvm::ArrayRef<KernelSource> kernels,
                                       llvm::StringRef chip);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_KERNELCODE_H
