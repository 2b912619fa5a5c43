//===- ProgramBuilder.h - from schedules to programs ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_PROGRAMBUILDER_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_PROGRAMBUILDER_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Schedule/Loop.h"

namespace veeline::pipe {

/// On work ops: the simulated begin and end, in nanoseconds from the begin of
/// the step. If some ops are late, they are the times of a step in the middle
/// of others.
inline constexpr llvm::StringLiteral predictedAttrName = "pipe.predicted";

/// The begin and end in that attribute, which `op` must have.
std::pair<double, double> getPredicted(mlir::Operation *op);

/// Writes `order`, a verified schedule of `pipeline`, as one `pipe.program` for
/// each rank, after the pipeline. Values of other stages are `pipe.edge_value`s
/// right before their first use. `times` are those of the order's operations.
/// Linear in the operations.
///
/// Updates of parameters are placed as follows:
/// - a parameter on one rank: after the last operation of the chunks that use
///   it;
/// - a parameter whose update waits for other ranks, and with `updatesAtEnd`
///   any parameter: after the last op of the schedule;
/// - a late update: after the last late W that adds to its gradient.
mlir::LogicalResult buildPrograms(PipelineOp pipeline,
                                  const schedule::Schedule &order,
                                  const schedule::TurnTimes &times,
                                  bool updatesAtEnd,
                                  mlir::SymbolTableCollection &symbols);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_PROGRAMBUILDER_H
