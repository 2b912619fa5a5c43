//===- OffloadVerifier.h - verification of offloads -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_IR_OFFLOADVERIFIER_H
#define VEELINE_LIB_DIALECT_PIPE_IR_OFFLOADVERIFIER_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// Whether values that are offloaded come back: each `pipe.offload` of a chunk
/// and microbatch is followed by one `pipe.release` of the same values, one
/// `pipe.reload` of the copies and one `pipe.restore` of what comes back, which
/// nothing else takes before. It stands between the F and the backward of
/// these. Linear in the ops.
mlir::LogicalResult verifyOffloads(ProgramOp program);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_IR_OFFLOADVERIFIER_H
