//===- StatefulUpdate.h - updates with a state, in a graph ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_STATEFULUPDATE_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_STATEFULUPDATE_H

#include "mlir/IR/Value.h"
#include "veeline/Base/Optimizers.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace veeline::pipe {

/// The values that a graph computes for a parameter: its new value, and the new
/// state of an optimiser, one or two tensors.
struct UpdateValues {
  mlir::Value param, newParam;
  llvm::SmallVector<mlir::Value, 2> state, newState;
  /// The number of the step, or null if the graph does not count steps.
  mlir::Value step;
};

/// An update by one of the runtime's optimisers, with its numbers
/// (docs/optimizers.md).
struct StatefulUpdate {
  mlir::Value gradient;
  Optimizer optimizer = Optimizer::sgdMomentum;
  double rate = 0, beta1 = 0, beta2 = 0, epsilon = 0, weightDecay = 0;

  /// Whether both can be in one run. Their decay may differ.
  bool isLike(const StatefulUpdate &other) const;
};

/// The optimiser of which the update is, in whatever form it is written: the
/// graph is computed for some numbers, which tell those of the optimiser, and
/// for others, which have to fit. None: it is none of sgd-momentum,
/// sgd-nesterov, adamw and lion.
std::optional<StatefulUpdate> matchStatefulUpdate(const UpdateValues &values);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_STATEFULUPDATE_H
