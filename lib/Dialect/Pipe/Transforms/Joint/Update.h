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

/// What an update subtracts from a parameter: `rate` times `gradient`.
struct Update {
  mlir::Value gradient;
  llvm::APFloat rate;
};

/// The number that both rates are, or nothing. They may be of different types:
/// one of them may be the other one rounded, and then the exact one is meant.
std::optional<llvm::APFloat> unifyRates(const llvm::APFloat &a,
                                        const llvm::APFloat &b);

/// The update if `updated` is `param - rate * gradient`, element by element,
/// with a constant rate and a gradient that is a tensor of its own; over one
/// structured op or several. Nothing for any other form.
std::optional<Update> matchUpdate(mlir::Value updated, mlir::Value param);

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_JOINT_UPDATE_H
