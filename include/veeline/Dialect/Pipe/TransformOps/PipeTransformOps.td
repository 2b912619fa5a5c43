//===- PipeTransformOps.td - pipelines made by a script ----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of the transform dialect: what the passes of pipe do, to one function or
// pipeline that a script chooses. docs/transform-scripts.md.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMOPS_PIPETRANSFORMOPS_TD
#define VEELINE_DIALECT_PIPE_TRANSFORMOPS_PIPETRANSFORMOPS_TD

include "mlir/Dialect/Transform/IR/TransformDialect.td"
include "mlir/Dialect/Transform/IR/TransformTypes.td"
include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Transform_FuncHandle : Transform_ConcreteOpType<"func.func">;
def Transform_PipelineHandle : Transform_ConcreteOpType<"pipe.pipeline">;

/// Refuses attributes that the op does not have, because an option with a wrong
/// name would do nothing. Names with a dot belong to other dialects.
def KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::veeline::pipe::script";
}

class PipeTransformOp<string mnemonic, list<Trait> traits = []>
    : Op<Transform_Dialect, "pipe." # mnemonic, traits # [
          KnownAttributes, TransformEachOpTrait, TransformOpInterface]> {
  let cppNamespace = "::veeline::pipe::script";
}

/// Transforms a pipeline in place, as a pass does all pipelines of a module.
class PipelineTransformOp<string mnemonic>
    : PipeTransformOp<mnemonic, [
          FunctionalStyleTransformOpTrait, MemoryEffectsOpInterface]> {
  let results = (outs Transform_PipelineHandle:$transformed);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter,
        ::veeline::pipe::PipelineOp target,
        ::mlir::transform::ApplyToEachResultList &results,
        ::mlir::transform::TransformState &state);
  }];
}

def CutOp : PipeTransformOp<"cut", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "Cut a model behind an op";
  let description = [{
    Puts a `pipe.boundary` behind each op that `target` stands for: all of its
    users get what the boundary gives. So `transform.pipe.partition` can only cut
    there, and behind other ops that are marked. The op has one result, a tensor.

    Keeps the handle. Fails silenceably at an op with other results.
  }];
  let arguments = (ins TransformHandleTypeInterface:$target);
  let assemblyFormat = "$target attr-dict `:` type($target)";
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter,
        ::mlir::Operation *target,
        ::mlir::transform::ApplyToEachResultList &results,
        ::mlir::transform::TransformState &state);
  }];
}

def PartitionOp : PipeTransformOp<"partition", [
    FunctionalStyleTransformOpTrait, MemoryEffectsOpInterface]> {
  let summary = "Cut a model function into chunks";
  let description = [{
    Does what `--pipe-partition` does, to the function that `target` stands for, and
    with options of the same names. Consumes the handle, and gives one of the
    `pipe.pipeline` that takes the function's place.

    Fails silenceably, and changes nothing, where the function cannot be cut so.
  }];
  let arguments = (ins
    Transform_FuncHandle:$target,
    DefaultValuedAttr<I64Attr, "1">:$stages,
    DefaultValuedAttr<I64Attr, "1">:$chunks_per_stage,
    DefaultValuedAttr<StrAttr, "\"\"">:$placement,
    OptionalAttr<DenseI64ArrayAttr>:$pieces,
    DefaultValuedAttr<StrAttr, "\"\"">:$profile,
    DefaultValuedAttr<StrAttr, "\"\"">:$machine_table,
    DefaultValuedAttr<I64Attr, "0">:$machine_cores,
    DefaultValuedAttr<I64Attr, "1">:$replicas,
    OptionalAttr<DenseI64ArrayAttr>:$stage_replicas,
    DefaultValuedAttr<StrAttr, "\"none\"">:$clip_sync,
    UnitAttr:$forward_only);
  let results = (outs Transform_PipelineHandle:$pipeline);
  let assemblyFormat = "$target attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::mlir::DiagnosedSilenceableFailure applyToOne(
        ::mlir::transform::TransformRewriter &rewriter,
        ::mlir::func::FuncOp target,
        ::mlir::transform::ApplyToEachResultList &results,
        ::mlir::transform::TransformState &state);
  }];
}

def DifferentiateOp : PipelineTransformOp<"differentiate"> {
  let summary = "Make the forward and backward functions of a pipeline's chunks";
  let description = [{
    Does what `--pipe-differentiate` does, to one pipeline, and with options of the
    same names, but that `kernels` is the option `target`, `host` or `cuda`.
  }];
  let arguments = (ins
    Transform_PipelineHandle:$target,
    OptionalAttr<StrArrayAttr>:$recompute,
    DefaultValuedAttr<StrAttr, "\"host\"">:$kernels,
    UnitAttr:$forward_only);
}

def SplitRecomputationOp : PipelineTransformOp<"split_recomputation"> {
  let summary = "Take the recomputation out of the backward functions of a pipeline";
  let description = [{
    Does what `--pipe-split-recomputation` does, to one pipeline.
  }];
  let arguments = (ins Transform_PipelineHandle:$target);
}

def SplitBackwardOp : PipelineTransformOp<"split_backward"> {
  let summary = "Split the backward functions of a pipeline into B and W";
  let description = [{
    Does what `--pipe-split-backward` does, to one pipeline.
  }];
  let arguments = (ins Transform_PipelineHandle:$target);
}

def RoundParametersOp : PipelineTransformOp<"round_parameters"> {
  let summary = "Round parameters of a pipeline to narrower types once a step";
  let description = [{
    Does what `--pipe-round-parameters` does, to one pipeline.
  }];
  let arguments = (ins Transform_PipelineHandle:$target);
}

def ScheduleOp : PipelineTransformOp<"schedule"> {
  let summary = "Order the work of every rank of a pipeline";
  let description = [{
    Does what `--pipe-schedule` does, to one pipeline, and with options of the same
    names. With `sequential` there is a second pipeline afterwards, which has no
    handle.
  }];
  let arguments = (ins
    Transform_PipelineHandle:$target,
    DefaultValuedAttr<StrAttr, "\"1f1b\"">:$schedule,
    DefaultValuedAttr<StrAttr, "\"period\"">:$objective,
    DefaultValuedAttr<I64Attr, "1">:$microbatches,
    DefaultValuedAttr<I64Attr, "1">:$replicas,
    DefaultValuedAttr<BoolAttr, "true">:$slip,
    UnitAttr:$updates_at_end,
    DefaultValuedAttr<F64Attr, "0.0">:$offload,
    UnitAttr:$shard_optimizer,
    UnitAttr:$sequential);
}

def InsertCommunicationOp : PipelineTransformOp<"insert_communication"> {
  let summary = "Insert the messages between the programs of a pipeline";
  let description = [{
    Does what `--pipe-insert-communication` does, to one pipeline, and with options of
    the same names. After the script, `--pipe-verify-communication` proves that the
    messages of all pipelines are free of deadlock.
  }];
  let arguments = (ins
    Transform_PipelineHandle:$target,
    DefaultValuedAttr<StrAttr, "\"overlap\"">:$strategy,
    DefaultValuedAttr<StrAttr, "\"mpi\"">:$model,
    DefaultValuedAttr<I64Attr, "1">:$split_messages);
}

#endif // VEELINE_DIALECT_PIPE_TRANSFORMOPS_PIPETRANSFORMOPS_TD
