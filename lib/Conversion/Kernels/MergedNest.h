//===- MergedNest.h - nests of a kernel that share their loops --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_MERGEDNEST_H
#define VEELINE_LIB_CONVERSION_KERNELS_MERGEDNEST_H

#include "KernelGroups.h"

namespace veeline {

/// Nests that run as one, in order: what one of them writes and a later one
/// reads is passed on as a value.
struct MergedNest {
  llvm::SmallVector<const LoopNest *> members;

  /// An operand of the merged nest: a place in memory, whatever nests use it.
  struct Operand {
    NestAccess access;
    /// An output whose old content is needed.
    bool readsOld = false;
  };
  /// Inputs, then outputs.
  std::vector<Operand> inputs, outputs;
};

/// Merges the nests of a group, each with the nearest one above that it can
/// join, past nests that it has no conflict with. Parallel nests merge if they
/// have the same loops inside of the row loops and touch common buffers at the
/// same place. Lane reductions merge if they have the same loops and no written
/// buffer in common. A row buffer that only passes values within one merged
/// nest is no operand of it.
std::vector<MergedNest> mergeNests(const KernelGroup &group);

/// The position in `operands` of the place that `access` touches, or -1.
int findOperand(llvm::ArrayRef<MergedNest::Operand> operands,
                const NestAccess &access);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_MERGEDNEST_H
