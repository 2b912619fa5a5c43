//===- InsertReductions.h - gradients of the ranks of a stage --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_INSERTREDUCTIONS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_INSERTREDUCTIONS_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// In the programs of stages that several ranks run, of one replica or several,
/// has the sums of each chunk added up over these ranks as soon as they are
/// complete, and waits for that where they are read. `blocks` where a sum that
/// is posted on its `stream` holds up the messages that come after it. Programs
/// have their messages and predicted times.
void insertReductions(PipelineOp pipeline, llvm::ArrayRef<ProgramOp> programs,
                      int stream, bool blocks);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_INSERTREDUCTIONS_H
