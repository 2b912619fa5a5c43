//===- ShareVerifier.h - verification of shares of updates ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_IR_SHAREVERIFIER_H
#define VEELINE_LIB_DIALECT_PIPE_IR_SHAREVERIFIER_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

// Ops of a pipeline whose ranks share out updates.

/// Who may take the sums of a share of a gradient.
mlir::LogicalResult verifyScattered(AllReduceOp op, PipelineOp pipeline,
                                    ProgramOp program);
/// Whether a turn waits for a late gather before it uses the parameter.
mlir::LogicalResult verifyGatherBeforeUses(AllGatherOp gather,
                                           PipelineOp pipeline);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_IR_SHAREVERIFIER_H
