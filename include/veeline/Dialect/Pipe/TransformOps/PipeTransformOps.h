//===- PipeTransformOps.h - transform ops that make pipelines ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMOPS_PIPETRANSFORMOPS_H
#define VEELINE_DIALECT_PIPE_TRANSFORMOPS_PIPETRANSFORMOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline::pipe::script {

/// Emits an error if `op` has an attribute with a name that it does not know.
mlir::LogicalResult verifyKnownAttributes(mlir::Operation *op);

template <typename ConcreteType>
class KnownAttributes
    : public mlir::OpTrait::TraitBase<ConcreteType, KnownAttributes> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) {
    return verifyKnownAttributes(op);
  }
};

} // namespace veeline::pipe::script

#define GET_OP_CLASSES
#include "veeline/Dialect/Pipe/TransformOps/PipeTransformOps.h.inc"

namespace veeline::pipe {

/// Adds the ops `transform.pipe.*` to the transform dialect.
void registerTransformOps(mlir::DialectRegistry &registry);

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMOPS_PIPETRANSFORMOPS_H
