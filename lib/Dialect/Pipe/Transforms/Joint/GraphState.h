//===- GraphState.h - the optimiser's state in a joint graph ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_GRAPHSTATE_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_GRAPHSTATE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

#include <optional>

namespace veeline::pipe {

/// The arguments and results of a joint function that are not those of the
/// model: tensors that an optimiser keeps, and the number of the step.
struct GraphState {
  struct OfParam {
    llvm::SmallVector<unsigned, 2> arguments, results;
  };
  /// The tensors of each parameter, by name.
  llvm::MapVector<mlir::StringAttr, OfParam> params;
  /// The argument with the number of the step.
  std::optional<unsigned> step;
  /// All arguments and results of the state.
  llvm::BitVector arguments, results;
};

/// Finds the state. Fails with an error if arguments and results do not match.
mlir::FailureOr<GraphState> findState(mlir::func::FuncOp func);

/// Removes the state. Fails with an error if something other than updates uses
/// it.
mlir::LogicalResult dropState(mlir::func::FuncOp func, const GraphState &state);

/// Replaces the new values of parameters by gradients, if an optimiser of the
/// runtime can do the whole update, and says which one in a remark. Removes the
/// state. Fails with an error if no optimiser can.
mlir::LogicalResult takeStateOut(mlir::func::FuncOp func,
                                 llvm::ArrayRef<SubjectResult> results,
                                 const GraphState &state);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_GRAPHSTATE_H
