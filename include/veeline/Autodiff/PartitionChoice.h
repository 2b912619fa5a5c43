//===- PartitionChoice.h - what one block keeps for another -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_AUTODIFF_PARTITIONCHOICE_H
#define VEELINE_AUTODIFF_PARTITIONCHOICE_H

#include <cstddef>
#include <utility>
#include <vector>

namespace veeline::autodiff {

/// The values of a block that were chosen to be kept. They are identified by
/// position, so that versions of one function for several lengths, which differ
/// only in extents, keep the same values. Constants and fills are never kept
/// and not counted, because it depends on extents which of them are equal.
struct PartitionChoice {
  /// A hash of the kind and operands of each other op.
  std::vector<size_t> ops;
  /// (number of the op, number of its result), ascending.
  std::vector<std::pair<unsigned, unsigned>> kept;
};

} // namespace veeline::autodiff

#endif // VEELINE_AUTODIFF_PARTITIONCHOICE_H
