//===- CheckFiles.h - files that a run needs --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_CHECKFILES_H
#define VEELINE_RUNTIME_TRAIN_CHECKFILES_H

#include "Options.h"

namespace veeline::train {

/// Detects now, and not after the last step, that a file cannot be written.
/// Nothing is wrong with an empty path.
Status checkWritable(const std::string &path);

/// Checks that the flight record of a rank can be written.
Status checkRecordOf(int32_t rank, const Options &options);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_CHECKFILES_H
