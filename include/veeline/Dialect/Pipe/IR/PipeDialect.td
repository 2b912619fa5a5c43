//===- PipeDialect.td - the pipe dialect -------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_PIPEDIALECT
#define VEELINE_DIALECT_PIPE_IR_PIPEDIALECT

include "mlir/IR/OpBase.td"

def Pipe_Dialect : Dialect {
  let name = "pipe";
  let cppNamespace = "::veeline::pipe";
  let summary = "Pipeline-parallel training";
  let description = [{
    The dialect describes the pipeline and nothing else: the chunks that a model is cut into, the
    values between them, and the order in which each rank runs them. The bodies of chunks are
    `func.func`s in upstream dialects, so every upstream pass works on them.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// On an argument of the model function: it is a trainable parameter.
    static constexpr llvm::StringLiteral paramAttrName = "pipe.param";
    /// On an argument of the model function: it has one slice a microbatch.
    static constexpr llvm::StringLiteral batchAttrName = "pipe.batch";
    /// On an argument of the model function: a constant buffer's name.
    static constexpr llvm::StringLiteral bufferAttrName = "pipe.buffer";
    /// On a buffer of the model function that the loss is multiplied by: the
    /// runtime chooses its value for each step.
    static constexpr llvm::StringLiteral lossScaleAttrName = "pipe.loss_scale";
    /// On a batch argument of the model function that the loss is multiplied
    /// by: how much each microbatch counts.
    static constexpr llvm::StringLiteral lossWeightAttrName =
        "pipe.loss_weight";
    /// On a result of the model function after the loss: the metric's name.
    static constexpr llvm::StringLiteral metricAttrName = "pipe.metric";
    /// On a result of a joint function: the parameter that it is the gradient
    /// of, or the new value of.
    static constexpr llvm::StringLiteral gradientOfAttrName =
        "pipe.gradient_of";
    static constexpr llvm::StringLiteral updatedAttrName = "pipe.updated";
    /// On an argument of a joint function: the parameter of which it is what an
    /// optimiser keeps; on a result, its new value. And a unit on the argument
    /// that counts steps, and on the result that is the next count.
    static constexpr llvm::StringLiteral stateOfAttrName = "pipe.state_of";
    static constexpr llvm::StringLiteral stepAttrName = "pipe.step";
    /// On the model function, or a chunk's part of it: the private function
    /// that has its derivative, too.
    static constexpr llvm::StringLiteral jointAttrName = "pipe.joint";
    /// On an argument of the model function, of integers: the first valid
    /// integer, and the one after the last.
    static constexpr llvm::StringLiteral rangeAttrName = "pipe.range";
    /// On a batch argument of the model function whose extents vary: which of
    /// its dimensions is the length.
    static constexpr llvm::StringLiteral lengthDimAttrName = "pipe.length_dim";
    /// On a version of the model function for one length, and on the chunks'
    /// parts of it: an extent of 1 may be larger in another version, so nothing
    /// may be concluded from it that does not hold there, too.
    static constexpr llvm::StringLiteral lengthVariesAttrName =
        "pipe.length_varies";
    /// On an argument of a model that is being imported: the value that the
    /// file has for it.
    static constexpr llvm::StringLiteral constantAttrName = "pipe.constant";
    /// On arguments and results of chunk functions: what they stand for.
    static constexpr llvm::StringLiteral roleAttrName = "pipe.role";
    /// On the last op of a piece in a chunk's part of the model, the last piece
    /// excepted.
    static constexpr llvm::StringLiteral pieceEndAttrName = "pipe.piece_end";
    void registerAttributes();
    void registerTypes();
    void registerOps();
    void registerBytecode();
  }];
}

class Pipe_Op<string mnemonic, list<Trait> traits = []>
    : Op<Pipe_Dialect, mnemonic, traits>;

#endif // VEELINE_DIALECT_PIPE_IR_PIPEDIALECT
