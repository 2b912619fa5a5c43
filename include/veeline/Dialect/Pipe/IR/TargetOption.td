//===- TargetOption.td - where kernels run, of passes ------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_TARGETOPTION
#define VEELINE_DIALECT_PIPE_IR_TARGETOPTION

include "mlir/Pass/PassBase.td"

/// The option `target` of a pass. What is generated of it needs Kernels.h.
class TargetOption<string description>
    : Option<"target", "target", "::veeline::KernelTarget",
             /*default=*/"::veeline::KernelTarget::Host", description,
             [{::llvm::cl::values(
               clEnumValN(::veeline::KernelTarget::Host, "host", "On a CPU"),
               clEnumValN(::veeline::KernelTarget::Cuda, "cuda", "On a GPU"))}]>;

#endif // VEELINE_DIALECT_PIPE_IR_TARGETOPTION
