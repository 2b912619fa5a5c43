//===- Update.h - the update of a parameter in a graph ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_UPDATE_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_UPDATE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/APFloat.h"

#include <optional>

namespace veeline::pipe {

/// The difference that an update subtracts from a parameter: `rate` times
/// `gradient`.
struct Update {
  mlir::Value gradient;
  llvm::APFloat rate;
};

/// The common value of both rates, or none. If they have different types, one
/// may be the other one rounded. The exact one is then returned.
std::optional<llvm::APFloat> unifyRates(const llvm::APFloat &a,
                                        const llvm::APFloat &b);

/// Matches `updated` as `param - rate * gradient`, element by element, in one
/// or several structured ops. The rate has to be a constant, and the gradient a
/// tensor of its own. None for any other form.
std::optional<Update> matchUpdate(mlir::Value updated, mlir::Value param);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_UPDATE_H
