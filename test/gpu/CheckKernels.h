//===- CheckKernels.h - kernels of a module against their twins -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_CHECKKERNELS_H
#define VEELINE_TEST_GPU_CHECKKERNELS_H

#include "KernelCheck.h"
#include "KernelCode.h"

namespace veeline::gpu {

/// Compiles `kernels` with checks of their accesses and hands the verdict of
/// each to `report`. Fails with what keeps them from running.
llvm::Error checkKernels(llvm::ArrayRef<KernelSource> kernels, uint64_t seed,
                         llvm::function_ref<void(KernelSource, const Kernel &,
                                                 const KernelVerdict &)>
                             report);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_CHECKKERNELS_H
