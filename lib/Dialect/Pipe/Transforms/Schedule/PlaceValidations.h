//===- PlaceValidations.h - placing the checks for void turns ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_SCHEDULE_PLACEVALIDATIONS_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_SCHEDULE_PLACEVALIDATIONS_H

#include "PipelineTables.h"

namespace veeline::pipe {

/// Puts the pipe.validate of each program where nothing before it takes a value
/// that another rank computes after its own: in a void turn that is none.
void placeValidations(PipelineTables &tables,
                      llvm::ArrayRef<ProgramOp> programs);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_SCHEDULE_PLACEVALIDATIONS_H
