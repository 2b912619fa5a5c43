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

/// What a joint function takes and returns besides a model and its parameters:
/// tensors that an optimiser keeps, and the number of the step.
struct GraphState {
  struct OfParam {
    llvm::SmallVector<unsigned, 2> arguments, results;
  };
  llvm::MapVector<mlir::StringAttr, OfParam> params; ///< By name.
  std::optional<unsigned> step;                      ///< An argument.
  llvm::BitVector arguments, results;                ///< All of them.
};

/// Fails with an error where arguments and results do not fit each other.
mlir::FailureOr<GraphState> findState(mlir::func::FuncOp func);

/// Takes away what updates alone have used. Fails with an error where something
/// else uses it, too.
mlir::LogicalResult dropState(mlir::func::FuncOp func, const GraphState &state);

/// Makes gradients of the new values of parameters, where the runtime's
/// optimiser does all of their update, and says which one in a remark. Then
/// nothing of the state is left. Fails with an error where it does not.
mlir::LogicalResult takeStateOut(mlir::func::FuncOp func,
                                 llvm::ArrayRef<SubjectResult> results,
                                 const GraphState &state);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_GRAPHSTATE_H
