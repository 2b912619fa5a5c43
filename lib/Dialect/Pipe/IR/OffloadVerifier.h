//===- OffloadVerifier.h - verification of offloads -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_IR_OFFLOADVERIFIER_H
#define VEELINE_LIB_DIALECT_PIPE_IR_OFFLOADVERIFIER_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// Verifies that offloaded values come back. For each chunk and microbatch,
/// each `pipe.offload` has to be followed by one `pipe.release` of the same
/// values, one `pipe.reload` of the copies, and one `pipe.restore` of the
/// values that come back. No other op may take these values in between. All of
/// these ops have to be between the F and the backward. Linear in the number of
/// ops.
mlir::LogicalResult verifyOffloads(ProgramOp program);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_IR_OFFLOADVERIFIER_H
