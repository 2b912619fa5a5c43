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

/// Estimates updates and norms of a rank's parameters by the memory that they
/// read and write, and Muon's by its products, too. How fast that goes, a
/// profile says, else the machine's table, else the cost model.
class UpdateCosts {
public:
  /// The plan has to live as long as this does.
  UpdateCosts(pipe::PipelineOp pipeline, const pipe::MemoryPlan &plan);

  /// In nanoseconds.
  double estimate(pipe::UpdateOp update) const;
  double estimate(pipe::SquaredNormOp norm) const;

private:
  double timeOf(const UpdateTraffic &traffic) const;
  double timeOfProducts(mlir::ShapedType matrix) const;

  pipe::PipelineOp pipeline;
  const pipe::MemoryPlan &plan;
  std::optional<MachineTable> table;
  /// Of updates, as a profile has it.
  std::optional<double> nanosecondsPerByte;
};

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_UPDATECOSTS_H
