//===- ScheduleFile.h - orders from files as schedules ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEFILE_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEFILE_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Schedule/Schedule.h"

namespace veeline::pipe {

/// The order of a .csv or .json file as a schedule of `pipeline`, whose problem
/// is `problem`; it passed the verifier. Its costs, if it has any, are not
/// used. An I of a chunk that owes nobody an input gradient is left out. Fails
/// with a diagnostic at the pipeline that names the file: sizes or placement
/// that are not the pipeline's, blocks of operations that run together, and
/// whatever the verifier finds, with stage and step.
mlir::FailureOr<schedule::Schedule>
importSchedule(PipelineOp pipeline, llvm::StringRef path,
               const schedule::Problem &problem);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEFILE_H
