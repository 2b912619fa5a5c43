//===- VerifyMemory.h - what a verification takes --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_VERIFYMEMORY_H
#define VEELINE_RUNTIME_TRAIN_VERIFYMEMORY_H

#include "Session.h"

namespace veeline::train {

/// The bytes that --verify or --compare-sequential has at a time, as the
/// artifact tells them: those of the data, and what libraries allocate for
/// themselves, are not among them.
struct VerifyMemory {
  struct Loaded {
    std::string program;
    int64_t bytes; ///< As `bytesOfProgram`.
  };
  std::vector<Loaded> programs; ///< The first one is what training would have.
  int64_t copies = 0;           ///< Of parameters and gradients, to compare.

  int64_t total() const;
};

/// What a session of `program` allocates: the arenas of its ranks, batches of
/// two steps, and where ranks send to after a fault.
int64_t bytesOfProgram(const Run &run, const artifact::Program &program);

VerifyMemory memoryOfVerify(const Run &run);
VerifyMemory memoryOfComparison(const Run &run);

/// Prints what is needed, and fails where less is free.
Status checkMemoryOfVerify(const Run &run);

/// The same of --compare-sequential, whose sequential run begins while the
/// session of the pipeline is still there.
Status checkMemoryOfComparison(const Run &run);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_VERIFYMEMORY_H
