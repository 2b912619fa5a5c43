//===- UpdateCosts.h - estimated times of updates ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_COMPILER_UPDATECOSTS_H
#define VEELINE_LIB_COMPILER_UPDATECOSTS_H

#include "veeline/Analysis/MachineTable.h"
#include "veeline/Base/Optimizers.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"

#include <optional>

namespace veeline::compiler {

/// Estimates the times of updates and norms of a rank's parameters from the
/// memory that they read and write, and those of Muon also from its products.
/// Rates are those of the profile, else of the machine's table, else of the
/// cost model.
class UpdateCosts {
public:
  /// The plan has to outlive this object.
  UpdateCosts(pipe::PipelineOp pipeline, const pipe::MemoryPlan &plan);

  /// The time in nanoseconds.
  double estimate(pipe::UpdateOp update) const;
  double estimate(pipe::SquaredNormOp norm) const;

private:
  double timeOf(const UpdateTraffic &traffic) const;
  double timeOfProducts(mlir::ShapedType matrix) const;

  pipe::PipelineOp pipeline;
  const pipe::MemoryPlan &plan;
  std::optional<MachineTable> table;
  /// The rate of updates that the profile measured, if any.
  std::optional<double> nanosecondsPerByte;
};

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_UPDATECOSTS_H
