//===- VerifyMemory.h - memory needed for verification ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_VERIFYMEMORY_H
#define VEELINE_RUNTIME_TRAIN_VERIFYMEMORY_H

#include "Session.h"

namespace veeline::train {

/// The bytes that --verify or --compare-sequential has at a time, as far as the
/// artifact tells: without those of the data, and without what libraries
/// allocate for themselves.
struct VerifyMemory {
  struct Loaded {
    std::string program;
    int64_t bytes; ///< As `bytesOfProgram`.
  };
  std::vector<Loaded> programs; ///< The first one is what training would have.
  int64_t copies = 0;           ///< Of parameters and gradients, to compare.

  int64_t total() const;
};

/// What a session of `program` allocates: the arenas of its ranks, the batches
/// of the steps in flight and of one more, first messages of a step, and where
/// ranks send to after a fault.
int64_t bytesOfProgram(const Run &run, const artifact::Program &program,
                       int64_t stepsInFlight = 1);

VerifyMemory memoryOfVerify(const Run &run);
VerifyMemory memoryOfComparison(const Run &run);

/// Prints what is needed, and fails if less is free.
Status checkMemoryOfVerify(const Run &run);

/// The same for --compare-sequential, whose sequential run begins while the
/// session of the pipeline still exists.
Status checkMemoryOfComparison(const Run &run);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_VERIFYMEMORY_H
