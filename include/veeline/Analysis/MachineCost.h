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

/// The bytes of all that one run of `block` has in memory: its arguments and
/// what its ops write. Linear in its ops.
uint64_t getFootprint(mlir::Block &block);

/// How long one run of `op` takes on one core of the machine that `table` is
/// of, in nanoseconds. Products and convolutions take what calls of the library
/// of their class do. Everything else reads and writes memory at the speed of
/// its bytes, but for what only other loops use: that they compute on the way.
/// A cache still has what other ops of the block wrote before; arguments, and
/// places that are written, were last used a run of the block ago, by which so
/// many bytes as its footprint have gone by.
double estimateNanoseconds(mlir::Operation *op, const MachineTable &table,
                           uint64_t footprint);

/// How long it takes to add a gradient of so many bytes to that of earlier
/// microbatches, as part of a function with this footprint.
double estimateAccumulation(uint64_t bytes, const MachineTable &table,
                            uint64_t footprint);

} // namespace veeline

#endif // VEELINE_ANALYSIS_MACHINECOST_H
