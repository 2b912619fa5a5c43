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

/// What a graph computes of a parameter: its new value, and those of what an
/// optimiser keeps, one or two tensors.
struct UpdateValues {
  mlir::Value param, newParam;
  llvm::SmallVector<mlir::Value, 2> state, newState;
  /// The number of the step; null where the graph does not count.
  mlir::Value step;
};

/// An update that one of the runtime's optimisers makes, with its numbers
/// (docs/optimizers.md).
struct StatefulUpdate {
  mlir::Value gradient;
  Optimizer optimizer = Optimizer::sgdMomentum;
  double rate = 0, beta1 = 0, beta2 = 0, epsilon = 0, weightDecay = 0;

  /// Whether both can be of one run, whatever their decay.
  bool isLike(const StatefulUpdate &other) const;
};

/// The optimiser of which the update is, in whatever form it is written: the
/// graph is computed for some numbers, which tell those of the optimiser, and
/// for others, which have to fit. None: it is none of sgd-momentum,
/// sgd-nesterov, adamw and lion.
std::optional<StatefulUpdate> matchStatefulUpdate(const UpdateValues &values);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_STATEFULUPDATE_H
