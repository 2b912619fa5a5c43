//===- Passes.h - the passes of the pipe dialect ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_PASSES_H
#define VEELINE_DIALECT_PIPE_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"
#include "veeline/Dialect/Pipe/IR/Kernels.h"
#include "veeline/Schedule/Communication/Plan.h"
#include "veeline/Schedule/Simulator.h"
#include "llvm/Support/CommandLine.h"

namespace mlir {
class ModuleOp;
namespace func {
class FuncDialect;
} // namespace func
namespace LLVM {
class LLVMDialect;
} // namespace LLVM
} // namespace mlir

namespace veeline::pipe {

class PipeDialect;

#define GEN_PASS_DECL
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"

} // namespace veeline::pipe

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_PASSES_H
