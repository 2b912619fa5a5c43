//===- CheckKernels.h - kernels of a module against their twins -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_CHECKKERNELS_H
#define VEELINE_TEST_GPU_CHECKKERNELS_H

#include "KernelCheck.h"
#include "KernelCode.h"

#include "mlir/Pass/PassManager.h"

namespace veeline::gpu {

/// Compiles `kernels` to PTX for `chip`, and their twins with checks of their
/// accesses, and hands the verdict of each to `report`. Fails with what keeps
/// them from running.
llvm::Error checkKernels(llvm::ArrayRef<KernelSource> kernels, uint64_t seed,
                         llvm::StringRef chip,
                         llvm::function_ref<void(KernelSource, const Kernel &,
                                                 const KernelVerdict &)>
                             report);

/// One of the chips whose PTX differs.
llvm::StringRef chooseChip(uint64_t seed);

/// Makes a module of kernels and checks them, for each of `count` seeds from
/// `seed` on. Hands each kernel to `report`. Prints the kernels that differ,
/// with the `option` that makes them again, and what keeps a module from being
/// checked. Returns the number of modules that were checked.
int64_t checkSeeds(
    int64_t count, uint64_t seed, llvm::StringRef option,
    llvm::function_ref<mlir::OwningOpRef<mlir::ModuleOp>(uint64_t,
                                                         mlir::MLIRContext &)>
        make,
    llvm::function_ref<void(const Kernel &, bool isRight)> report);

/// The module of `text` after `passes`; null, and printed, where there is none.
mlir::OwningOpRef<mlir::ModuleOp> makeModule(const std::string &text,
                                             mlir::PassManager &passes);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_CHECKKERNELS_H
