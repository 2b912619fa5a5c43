//===- MachineCost.h - times by a machine's table ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_MACHINECOST_H
#define VEELINE_ANALYSIS_MACHINECOST_H

#include "mlir/IR/Operation.h"
#include "veeline/Analysis/MachineTable.h"

namespace veeline {

/// How long one run of `op` takes on one core of the machine that `table` is
/// of, in nanoseconds. Products and convolutions take what calls of the library
/// of their class do. Everything else reads and writes memory at the speed of
/// its bytes, but for what only other loops use: that they compute on the way.
double estimateNanoseconds(mlir::Operation *op, const MachineTable &table);

/// How long it takes to add a gradient of so many bytes to that of earlier
/// microbatches.
double estimateAccumulation(uint64_t bytes, const MachineTable &table);

} // namespace veeline

#endif // VEELINE_ANALYSIS_MACHINECOST_H
