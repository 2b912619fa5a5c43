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

/// Which values of a block were kept, by place and not by name: versions of one
/// function for several lengths, which differ only in extents, keep the same
/// ones. Constants and fills are never kept and not counted, because which of
/// them are equal depends on extents.
struct PartitionChoice {
  /// A hash of what each other op is and takes.
  std::vector<size_t> ops;
  /// (number of the op, number of its result), ascending.
  std::vector<std::pair<unsigned, unsigned>> kept;
};

} // namespace veeline::autodiff

#endif // VEELINE_AUTODIFF_PARTITIONCHOICE_H
