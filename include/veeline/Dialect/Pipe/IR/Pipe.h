//===- Pipe.h - the pipe dialect --------------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_PIPE_H
#define VEELINE_DIALECT_PIPE_IR_PIPE_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/RegionKindInterface.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "veeline/Dialect/Pipe/IR/PipeDialect.h.inc"
#include "veeline/Dialect/Pipe/IR/PipeEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "veeline/Dialect/Pipe/IR/PipeAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "veeline/Dialect/Pipe/IR/PipeTypes.h.inc"

namespace veeline::pipe {
class BatchOp;
class BufferOp;
class ChunkOp;
class ParamOp;
class YieldOp;

/// The stage that holds `chunk` when chunks are placed on `stages` stages.
int64_t getStageOf(Placement placement, int64_t stages, int64_t chunk);

/// The type of a norm, and of a factor by which gradients are scaled.
mlir::RankedTensorType getNormType(mlir::MLIRContext *context);
} // namespace veeline::pipe

#define GET_OP_CLASSES
#include "veeline/Dialect/Pipe/IR/PipeOps.h.inc"

namespace veeline::pipe {
/// Whether an op of a program belongs to the previous step.
bool isLate(mlir::Operation *op);
} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_IR_PIPE_H
