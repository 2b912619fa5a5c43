//===- ProgramBuilder.h - schedules as programs -----------------*- C++ -*-===//
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
/// the step. Where some are late, of a step in the middle of others.
inline constexpr llvm::StringLiteral predictedAttrName = "pipe.predicted";

/// What that attribute says of a work op that has it.
std::pair<double, double> getPredicted(mlir::Operation *op);

/// Writes `order`, a verified schedule of `pipeline`, as one `pipe.program` for
/// each rank, after the pipeline. Values of other stages are
/// `pipe.edge_value`s just before their first use. The update of a parameter
/// that one rank has follows the last operation of the chunks that use it;
/// those that wait for other ranks, and all with `updatesAtEnd`, follow the
/// last op of the schedule. Late updates follow the last late W that adds to
/// their gradients. `times` are those of the order's operations. Linear in the
/// operations.
mlir::LogicalResult buildPrograms(PipelineOp pipeline,
                                  const schedule::Schedule &order,
                                  const schedule::TurnTimes &times,
                                  bool updatesAtEnd,
                                  mlir::SymbolTableCollection &symbols);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_PROGRAMBUILDER_H
