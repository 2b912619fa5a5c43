//===- PipeOps.td - operations of pipe ---------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_PIPEOPS
#define VEELINE_DIALECT_PIPE_IR_PIPEOPS

include "veeline/Dialect/Pipe/IR/PipelineOps.td"
include "veeline/Dialect/Pipe/IR/ProgramOps.td"

#endif // VEELINE_DIALECT_PIPE_IR_PIPEOPS
