//===- Attention.h - attention and its derivatives --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_ATTENTION_H
#define VEELINE_DIALECT_PIPE_IR_ATTENTION_H

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include <limits>

#include "veeline/Dialect/Pipe/IR/AttentionInterfaces.h.inc"

#define GET_OP_CLASSES
#include "veeline/Dialect/Pipe/IR/AttentionOps.h.inc"

#endif // VEELINE_DIALECT_PIPE_IR_ATTENTION_H
