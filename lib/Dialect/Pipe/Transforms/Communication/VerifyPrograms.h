//===- VerifyPrograms.h - verification of programs --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_VERIFYPROGRAMS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_VERIFYPROGRAMS_H

#include "Schedule/PipelineTables.h"

namespace veeline::pipe {

/// Whether every rank has one program, and the programs update no parameter, or
/// each that has gradients at its home, with all of these in order. They may
/// have been written by hand. Fails with a diagnostic.
mlir::LogicalResult verifyPrograms(const PipelineTables &tables,
                                   llvm::ArrayRef<ProgramOp> programs);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_COMMUNICATION_VERIFYPROGRAMS_H
