//===- Frozen.h - parameters that are not trained ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_FROZEN_H
#define VEELINE_DIALECT_PIPE_IR_FROZEN_H

#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe {

/// On an argument of a model that is a parameter, and on its pipe.param op: it
/// is not trained. It has no gradient, no update and no state of an optimiser.
/// A unit attribute.
inline constexpr llvm::StringLiteral frozenAttrName = "pipe.frozen";

inline bool isFrozen(ParamOp param) { return param->hasAttr(frozenAttrName); }

/// Whether an argument of a model is a parameter that is not frozen.
inline bool isTrainedParam(mlir::FunctionOpInterface model, unsigned argument) {
  return model.getArgAttr(argument, PipeDialect::paramAttrName) &&
         !model.getArgAttr(argument, frozenAttrName);
}

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_IR_FROZEN_H
