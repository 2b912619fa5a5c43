//===- VerifyMemory.h - memory needed for verification ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_VERIFYMEMORY_H
#define VEELINE_RUNTIME_TRAIN_VERIFYMEMORY_H

#include "Session.h"

namespace veeline::train {

/// The bytes that --verify or --compare-sequential needs at a time, as far as
/// the artifact determines them. They do not include the data, and what
/// libraries allocate for themselves.
struct VerifyMemory {
  struct Loaded {
    std::string program;
    int64_t bytes; ///< See `bytesOfProgram`.
  };
  std::vector<Loaded> programs; ///< The first one is that of training.
  /// Of parameters and gradients, for comparison.
  int64_t copies = 0;

  int64_t total() const;
};

/// The bytes that a session of `program` allocates: the arenas of its ranks,
/// the batches of the steps in flight and of one more, first messages of a
/// step, and the memory to which ranks send after a fault.
int64_t bytesOfProgram(const Run &run, const artifact::Program &program,
                       int64_t stepsInFlight = 1);

VerifyMemory memoryOfVerify(const Run &run);
VerifyMemory memoryOfComparison(const Run &run);

/// Prints the memory that is needed, and fails if less is free.
Status checkMemoryOfVerify(const Run &run);

/// Does the same for --compare-sequential, whose sequential run begins while
/// the session of the pipeline still exists.
Status checkMemoryOfComparison(const Run &run);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_VERIFYMEMORY_H
