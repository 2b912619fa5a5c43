//===- VerifyPrograms.h - verification of programs --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_VERIFYPROGRAMS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_VERIFYPROGRAMS_H

#include "Schedule/PipelineTables.h"

namespace veeline::pipe {

/// Verifies programs, which may have been written by hand. Every rank must have
/// one program. The programs must update no parameter, or every parameter with
/// gradients: at its home, and with all of the gradients in order. Fails with a
/// diagnostic.
mlir::LogicalResult verifyPrograms(const PipelineTables &tables,
                                   llvm::ArrayRef<ProgramOp> programs);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_VERIFYPROGRAMS_H
