//===- PipeAttributes.td - attributes and types of pipe ----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_PIPEATTRIBUTES
#define VEELINE_DIALECT_PIPE_IR_PIPEATTRIBUTES

include "veeline/Dialect/Pipe/IR/PipeDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Pipe_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::veeline::pipe";
}

def Pipe_Placement : Pipe_I32Enum<"Placement", "which chunk lives on which stage", [
  I32EnumAttrCase<"Linear", 0, "linear">,
  I32EnumAttrCase<"Interleaved", 1, "interleaved">,
  I32EnumAttrCase<"V", 2, "v">,
  I32EnumAttrCase<"Wave", 3, "wave">
]>;

def Pipe_Direction : Pipe_I32Enum<"Direction", "which way along an edge", [
  I32EnumAttrCase<"Activation", 0, "activation">,
  I32EnumAttrCase<"Gradient", 1, "gradient">,
  I32EnumAttrCase<"Shape", 2, "shape">
]>;

def Pipe_ClipSync : Pipe_I32Enum<"ClipSync", "when updates know the norm of all gradients", [
  I32EnumAttrCase<"Barrier", 0, "barrier">,
  I32EnumAttrCase<"Optimistic", 1, "optimistic">
]>;

def Pipe_Asynchronous : Pipe_I32Enum<"Asynchronous", "which parameters a step uses that waits for no update", [
  I32EnumAttrCase<"DoubleBuffered", 0, "double_buffered">,
  I32EnumAttrCase<"Stashed", 1, "stashed">
]>;

def Pipe_RoleKind : Pipe_I32Enum<"RoleKind", "what a value of a chunk function stands for", [
  I32EnumAttrCase<"Operand", 0, "operand">,
  I32EnumAttrCase<"Result", 1, "result">,
  I32EnumAttrCase<"Residual", 2, "residual">,
  I32EnumAttrCase<"Saved", 3, "saved">,
  I32EnumAttrCase<"ResultGrad", 4, "result_grad">,
  I32EnumAttrCase<"OperandGrad", 5, "operand_grad">,
  I32EnumAttrCase<"ParamGrad", 6, "param_grad">,
  I32EnumAttrCase<"Rounded", 7, "rounded">,
  I32EnumAttrCase<"Recomputed", 8, "recomputed">
]>;

def Pipe_InitKind : Pipe_I32Enum<"InitKind", "how a parameter starts", [
  I32EnumAttrCase<"Zeros", 0, "zeros">,
  I32EnumAttrCase<"Ones", 1, "ones">,
  I32EnumAttrCase<"Constant", 2, "constant">,
  I32EnumAttrCase<"Normal", 3, "normal">,
  I32EnumAttrCase<"Uniform", 4, "uniform">,
  I32EnumAttrCase<"Values", 5, "values">
]>;

def Pipe_RoleAttr : AttrDef<Pipe_Dialect, "Role"> {
  let mnemonic = "role";
  let summary = "What an argument or result of a chunk function stands for";
  let description = [{
    `operand`, `operand_grad` and `param_grad` count the operands of the
    `pipe.chunk` op, `result` and `result_grad` its results; `residual` counts the
    values that the forward function keeps for the backward ones, `saved` those that
    backward_input keeps for backward_weight, `recomputed` those that the recomputation
    gives to the backward ones. `rounded` counts the operands, too: it is
    the parameter in a narrower type, with its value at the beginning of the step.

    Example: `#pipe.role<residual 0>`.
  }];
  let parameters = (ins "::veeline::pipe::RoleKind":$kind, "unsigned":$index);
  let assemblyFormat = "`<` $kind $index `>`";
}

def Pipe_InitAttr : AttrDef<Pipe_Dialect, "Init"> {
  let mnemonic = "init";
  let summary = "How a parameter starts";
  let description = [{
    `zeros`, `ones`, `constant(c)`, `normal(mean, std)`, `uniform(lo, hi)` or
    `values(elements)`. Numbers that are drawn depend on the seed, the
    parameter's name and the element's index, on nothing else.

    `elements` has the parameter's shape, as in `values(dense<[1.0, 2.0]> :
    tensor<2xf32>)` or `values(dense_resource<w> : tensor<4x4xbf16>)`. Its floats may
    be narrower than the parameter's; the artifact stores them as they are.
  }];
  let parameters = (ins "::veeline::pipe::InitKind":$kind, APFloatParameter<"first number, or 0">:$a,
                        APFloatParameter<"second number, or 0">:$b,
                        OptionalParameter<"::mlir::ElementsAttr", "of `values`, else null">:$elements);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether a parameter of `type` can have this initialiser; `emitError`
    /// says why not.
    ::llvm::LogicalResult verifyFor(::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
                                    ::mlir::ShapedType type);
  }];
}

def Pipe_ParamAttr : AttrDef<Pipe_Dialect, "Param"> {
  let mnemonic = "param";
  let summary = "A trainable parameter: its name and how it starts";
  let description = [{
    Example: `#pipe.param<"wte", init = normal(0.0, 0.02)>`.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        "::veeline::pipe::InitAttr":$init);
  let hasCustomAssemblyFormat = 1;
}

def Pipe_CostAttr : AttrDef<Pipe_Dialect, "Cost"> {
  let mnemonic = "cost";
  let summary = "What one chunk costs on one microbatch";
  let description = [{
    Nanoseconds of the forward, the backward-input and the backward-weight
    operation, by the cost model or a profile. If a chunk lacks one of them, it has 0
    there. A fused backward costs the sum of both, minus `backward_shared`: the work
    that both recompute, which it does once. `recomputation` is that of a function that
    recomputes ahead of the backward, where the chunk has one.
  }];
  let parameters = (ins "uint64_t":$forward, "uint64_t":$backwardInput,
                        "uint64_t":$backwardWeight,
                        DefaultValuedParameter<"uint64_t", "0">:$backwardShared,
                        DefaultValuedParameter<"uint64_t", "0">:$recomputation);
  let assemblyFormat = [{
    `<` `forward` `=` $forward `,` `backward_input` `=` $backwardInput `,`
        `backward_weight` `=` $backwardWeight (`,` `backward_shared` `=` $backwardShared^)?
        (`,` `recomputation` `=` $recomputation^)? `>`
  }];
}

def Pipe_HandleType : TypeDef<Pipe_Dialect, "Handle"> {
  let mnemonic = "handle";
  let summary = "A receive that has been posted and not yet waited for";
  let parameters = (ins "::mlir::RankedTensorType":$value);
  let assemblyFormat = "`<` $value `>`";
}

#endif // VEELINE_DIALECT_PIPE_IR_PIPEATTRIBUTES
