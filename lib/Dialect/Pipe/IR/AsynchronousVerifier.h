//===- AsynchronousVerifier.h - verification without a flush ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_IR_ASYNCHRONOUSVERIFIER_H
#define VEELINE_LIB_DIALECT_PIPE_IR_ASYNCHRONOUSVERIFIER_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// Verifies a program of an asynchronous pipeline, and that a program of
/// another pipeline has nothing that only an asynchronous one may have: late
/// backwards, late messages, carried handles, and updates of single
/// microbatches. Linear in the number of ops. Expects that all ops refer to
/// chunks and parameters that exist.
mlir::LogicalResult verifyAsynchronous(ProgramOp program, PipelineOp pipeline);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_IR_ASYNCHRONOUSVERIFIER_H
