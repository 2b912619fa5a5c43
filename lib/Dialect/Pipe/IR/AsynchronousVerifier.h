//===- AsynchronousVerifier.h - verification without a flush ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_IR_ASYNCHRONOUSVERIFIER_H
#define VEELINE_LIB_DIALECT_PIPE_IR_ASYNCHRONOUSVERIFIER_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// What a program of an asynchronous pipeline has to do, and what only such a
/// one may: whole backwards that are late, late messages, carried handles,
/// updates of single microbatches. Linear in the ops. Expects that all numbers
/// of ops are those of chunks and parameters that exist.
mlir::LogicalResult verifyAsynchronous(ProgramOp program, PipelineOp pipeline);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_IR_ASYNCHRONOUSVERIFIER_H
