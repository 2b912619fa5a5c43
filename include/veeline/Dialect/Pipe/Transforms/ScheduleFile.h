//===- ScheduleFile.h - schedules from files --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEFILE_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEFILE_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Schedule/Formats/Formats.h"

namespace veeline::pipe {

/// Reads the order in a .csv or .json file as a schedule of `pipeline`, whose
/// problem is `problem`, and verifies it. Costs in the file are not used. An I
/// of a chunk without input gradients is left out, and so is an R of a chunk
/// without recomputation. An order without any R gets those that the problem
/// has, by `objective`. Fails with a diagnostic at
/// the pipeline that names the file. Reasons are sizes or a placement that
/// differ from the pipeline's, overlapped blocks, and errors of the verifier,
/// with stage and step.
mlir::FailureOr<schedule::Schedule>
importSchedule(PipelineOp pipeline, llvm::StringRef path,
               const schedule::Problem &problem, schedule::Objective objective);

/// The same for a file that has been read. `path` is its name in diagnostics.
mlir::FailureOr<schedule::Schedule>
adoptSchedule(PipelineOp pipeline, llvm::StringRef path,
              const schedule::ImportedSchedule &file,
              const schedule::Problem &problem, schedule::Objective objective);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_SCHEDULEFILE_H
