//===- InsertReductions.h - all-reduces of gradients ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_INSERTREDUCTIONS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_INSERTREDUCTIONS_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// The smallest number that is greater than those of all groups of `program`.
int64_t getFreeGroup(ProgramOp program);

/// Inserts the reductions of gradients into the programs of stages that several
/// ranks run, in one replica or several. The gradients of a chunk are summed
/// over these ranks as soon as they are complete, and waited for where they are
/// read. `blocks` says that a sum that is posted on `stream` delays later
/// messages. Programs must have their messages and predicted times.
void insertReductions(PipelineOp pipeline, llvm::ArrayRef<ProgramOp> programs,
                      int stream, bool blocks);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_INSERTREDUCTIONS_H
