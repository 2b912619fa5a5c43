//===- KernelFault.h - kernels made wrong on purpose ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_KERNELFAULT_H
#define VEELINE_TEST_GPU_KERNELFAULT_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace veeline::gpu {

enum class KernelFault {
  barrier, ///< One is missing.
  bound,   ///< A bound of an index is too large.
  shuffle, ///< It takes the value of a wrong lane.
  store,   ///< One is missing.
  wait,    ///< A wait for copies is missing.
};

/// The ops of `kernel` that can be wrong in this way.
std::vector<mlir::Operation *> findFaultSites(mlir::gpu::GPUFuncOp kernel,
                                              KernelFault fault);

/// Makes `op`, one of them, wrong.
void makeFault(mlir::Operation *op, KernelFault fault);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_KERNELFAULT_H
