//===- MergedNest.h - nests of a kernel that share their loops --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_KERNELS_MERGEDNEST_H
#define VEELINE_LIB_CONVERSION_KERNELS_MERGEDNEST_H

#include "KernelGroups.h"

namespace veeline {

/// Nests that run as one, in order. If one nest writes what a later one reads,
/// it is passed on as a value.
struct MergedNest {
  llvm::SmallVector<const LoopNest *> members;

  /// An operand of the merged nest: a place in memory, whichever nests use it.
  struct Operand {
    NestAccess access;
    /// Whether the old content of an output is needed.
    bool readsOld = false;
  };
  /// The operands in order: inputs, then outputs.
  std::vector<Operand> inputs, outputs;
};

/// Merges each nest of a group into the nearest one above that it can join,
/// across nests that it does not conflict with. Parallel nests can be merged if
/// they have the same loops inside of the row loops, and access common buffers
/// at the same place. Lane reductions can be merged if they have the same
/// loops, and no common buffer that is written. A row buffer that only passes
/// values within one merged nest is not an operand of it.
std::vector<MergedNest> mergeNests(const KernelGroup &group);

/// The position in `operands` of the place that `access` uses, or -1.
int findOperand(llvm::ArrayRef<MergedNest::Operand> operands,
                const NestAccess &access);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_KERNELS_MERGEDNEST_H
