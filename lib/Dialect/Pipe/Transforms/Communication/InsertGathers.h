//===- InsertGathers.h - all-gathers of shards of parameters ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_INSERTGATHERS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_INSERTGATHERS_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// Inserts the gathers of parameters into the programs of stages whose ranks
/// share updates out. Adjacent updates have one group, which is posted on
/// `stream` after the last of them, and waited for directly. Messages must not
/// be inserted yet: they send whole parameters.
void insertGathers(PipelineOp pipeline, llvm::ArrayRef<ProgramOp> programs,
                   int stream);

/// Numbers the groups of gathers, after those of messages. Moves the waits for
/// parameters that the rest of the step does not use to its end. With
/// `inNextTurn`, the next turn gathers these instead, and waits before it uses
/// them.
void settleGathers(PipelineOp pipeline, llvm::ArrayRef<ProgramOp> programs,
                   bool inNextTurn);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_INSERTGATHERS_H
