//===- Optimize.h - LLVM's optimiser ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_HOST_OPTIMIZE_H
#define VEELINE_LIB_CONVERSION_HOST_OPTIMIZE_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace veeline {

/// Runs LLVM's passes of `level` (0 to 3) for `machine` on `module`.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    unsigned level);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_HOST_OPTIMIZE_H
