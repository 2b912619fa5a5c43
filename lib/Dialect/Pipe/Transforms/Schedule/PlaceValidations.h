//===- PlaceValidations.h - placing the checks for void turns ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_SCHEDULE_PLACEVALIDATIONS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_SCHEDULE_PLACEVALIDATIONS_H

#include "PipelineTables.h"

namespace veeline::pipe {

/// Moves the pipe.validate of each program up, until no op before it takes a
/// value that another rank computes after its own pipe.validate. In a void
/// turn, there is no such value.
void placeValidations(PipelineTables &tables,
                      llvm::ArrayRef<ProgramOp> programs);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_SCHEDULE_PLACEVALIDATIONS_H
