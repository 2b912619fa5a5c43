//===- PipelineOps.td - a model and its pipeline -----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_IR_PIPELINEOPS
#define VEELINE_DIALECT_PIPE_IR_PIPELINEOPS

include "veeline/Dialect/Pipe/IR/PipeAttributes.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

//===----------------------------------------------------------------------===//
// In the model function
//===----------------------------------------------------------------------===//

def BoundaryOp : Pipe_Op<"boundary", [Pure, SameOperandsAndResultType]> {
  let summary = "A cut made by hand";
  let description = [{
    The identity. Everything that it depends on is in an earlier piece than
    everything that depends on it.

    Example:
    ```mlir
    %1 = pipe.boundary %0 : tensor<4x16xf32>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
}

//===----------------------------------------------------------------------===//
// The pipeline
//===----------------------------------------------------------------------===//

def PipelineOp : Pipe_Op<"pipeline", [
    Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "A model cut into chunks, and the stages that hold them";
  let description = [{
    `stages` is p, `chunks_per_stage` is v; there are p*v `pipe.chunk`s, numbered from 0 in model
    order. `microbatches` is m, known from `--pipe-schedule` on. `replicas` is d, by default 1: d
    pipelines run side by side, each on p ranks and on m microbatches of its own, and add up their
    gradients.

    `stage_replicas` has the number of ranks of each stage, by default one. Of w ranks, number i
    runs microbatches i, i + w, i + 2w and so on, and they add up their gradients. The pipeline then
    has as many ranks as all stages together.

    With `shard_optimizer` each of the ranks that add up gradients updates only a share of the
    parameters, and has only that share of the optimiser's state (docs/optimizers.md).

    With `nccl_sums`, which `--pipe-plan-memory` sets for GPUs, NCCL adds up gradients between
    processes in place, in an order of its own. Otherwise ranks add them in their order, through
    buffers of the arena (docs/communication.md).

    With `clip_sync` updates depend on the norm of all gradients. With `barrier` stages send it to
    each other before they update (`pipe.gather_norms`). With `optimistic` they update as if it were
    within its limit, and the next step checks this (`pipe.validate`).

    With `asynchronous` no step waits for the updates of the step before, so the pipeline never
    drains. With `double_buffered` step t uses the parameters as they were before the update of step
    t-1, on all stages alike (PipeDream-2BW). With `stashed` each microbatch has its own updates.
    Forward and backward of microbatch k, counted over all steps, then use on stage s the parameters
    as they were after the updates of microbatch k-p+s (PipeDream).

    Example:
    ```mlir
    pipe.pipeline @net stages(2) chunks_per_stage(1) placement(linear) {
      %w = pipe.param <"w", init = zeros> : tensor<4x4xf32>
      %x = pipe.batch "x" : tensor<2x4xf32>
      %0 = pipe.chunk 0 @net_chunk0(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
      %1 = pipe.chunk 1 @net_chunk1(%0) : (tensor<2x4xf32>) -> tensor<f32>
      pipe.yield %1 : tensor<f32>
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    ConfinedAttr<I64Attr, [IntPositive]>:$stages,
    ConfinedAttr<I64Attr, [IntPositive]>:$chunks_per_stage,
    Pipe_Placement:$placement,
    OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:$microbatches,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntPositive]>, "1">:$replicas,
    OptionalAttr<DenseI64ArrayAttr>:$stage_replicas,
    UnitAttr:$shard_optimizer,
    UnitAttr:$nccl_sums,
    OptionalAttr<Pipe_ClipSync>:$clip_sync,
    OptionalAttr<Pipe_Asynchronous>:$asynchronous,
    OptionalAttr<StrAttr>:$schedule
  );
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `stages` `(` $stages `)` `chunks_per_stage` `(` $chunks_per_stage `)`
    `placement` `(` $placement `)` (`microbatches` `(` $microbatches^ `)`)?
    (`replicas` `(` $replicas^ `)`)? (`stage_replicas` $stage_replicas^)? (`shard_optimizer` $shard_optimizer^)? (`nccl_sums` $nccl_sums^)?
    (`clip_sync` `(` $clip_sync^ `)`)? (`asynchronous` `(` $asynchronous^ `)`)? (`schedule` `(` $schedule^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The chunks in model order. O(ops of the pipeline).
    ::llvm::SmallVector<ChunkOp> getChunks();
    /// The parameters, batch arguments and buffers, each in order of their ops.
    ::llvm::SmallVector<ParamOp> getParams();
    ::llvm::SmallVector<BatchOp> getBatches();
    ::llvm::SmallVector<BufferOp> getBuffers();
    /// p*v.
    int64_t getNumChunks() { return getStages() * getChunksPerStage(); }
    /// The stage that holds `chunk` under the placement.
    int64_t getStageOf(int64_t chunk);
    /// How many ranks a stage has in one replica, and the first of them.
    int64_t getWidth(int64_t stage) {
      return getStageReplicas() ? (*getStageReplicas())[stage] : 1;
    }
    int64_t getFirstRank(int64_t stage);
    /// The ranks of one replica.
    int64_t getNumRanks() { return getFirstRank(getStages()); }
    /// How many ranks add up the gradients of a stage, in all replicas.
    int64_t getNumMembers(int64_t stage) {
      return getReplicas() * getWidth(stage);
    }
    /// Over how many ranks the updates of a stage are shared out: 1 where each
    /// rank does all of them.
    int64_t getShards(int64_t stage) {
      return getShardOptimizer() ? getNumMembers(stage) : 1;
    }
    /// The rank, of one replica, that runs `chunk` on `microbatch`. For messages of a
    /// parameter `microbatch` is the number of the receiving rank within its stage.
    int64_t getRankOf(int64_t chunk, int64_t microbatch) {
      int64_t stage = getStageOf(chunk);
      return getFirstRank(stage) + microbatch % getWidth(stage);
    }
    /// The rank, of one replica, that runs `program`.
    int64_t getRankOf(ProgramOp program);
    YieldOp getYield();
  }];
}

// Not pure: inputs are numbered in their order, so one that nothing uses any
// more has to stay.
class Pipe_InputOp<string mnemonic> : Pipe_Op<mnemonic, [
    HasParent<"PipelineOp">]> {
  let results = (outs AnyStaticShapeTensor:$value);
}

def ParamOp : Pipe_InputOp<"param"> {
  let summary = "A parameter, trained or frozen";
  let arguments = (ins Pipe_ParamAttr:$param);
  let assemblyFormat = "$param attr-dict `:` type($value)";
  let hasVerifier = 1;
  let description = [{
    Its home is the stage of the first chunk that uses it. With the attribute `pipe.frozen` it is not
    trained.

    Example:
    ```mlir
    %w = pipe.param <"w", init = normal(0.0, 0.02)> : tensor<4x4xf32>
    ```
  }];
}

def BatchOp : Pipe_InputOp<"batch"> {
  let summary = "An input with one slice for each microbatch";
  let arguments = (ins StrAttr:$name, OptionalAttr<ConfinedAttr<DenseI64ArrayAttr, [DenseArrayCount<2>]>>:$range,
                       UnitAttr:$loss_weight);
  let assemblyFormat = "$name (`range` $range^)? (`loss_weight` $loss_weight^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
  let description = [{
    The type is that of one slice. Every stage that uses it reads it; no message carries it. For an
    input of integers, `range` has the first valid integer and the one after the last. With
    `loss_weight` it is a factor of the loss, a float, which weights each microbatch
    (docs/loss-weights.md); a pipeline has at most one of these.

    Example:
    ```mlir
    %x = pipe.batch "tokens" : tensor<4x128xi32>
    ```
  }];
}

def BufferOp : Pipe_InputOp<"buffer"> {
  let summary = "A constant input, the same for every microbatch";
  let arguments = (ins StrAttr:$name, OptionalAttr<ConfinedAttr<DenseI64ArrayAttr, [DenseArrayCount<2>]>>:$range,
                       UnitAttr:$loss_scale);
  let assemblyFormat = "$name (`range` $range^)? (`loss_scale` $loss_scale^)? attr-dict `:` type($value)";
  let hasVerifier = 1;
  let description = [{
    `range` is that of `pipe.batch`. With `loss_scale` it is the factor of the loss, a float, which the runtime
    chooses for each step (docs/loss-scaling.md); a pipeline has at most one of these.

    Example:
    ```mlir
    %cos = pipe.buffer "cos" : tensor<128x32xf32>
    ```
  }];
}

def ChunkOp : Pipe_Op<"chunk", [
    Pure, HasParent<"PipelineOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "One chunk of the model, and the functions that run it";
  let description = [{
    `primal` is the chunk's part of the model. `--pipe-differentiate`,
    `--pipe-split-recomputation` and `--pipe-split-backward` make `forward`, `recomputation`,
    `backward`, `backward_input` and `backward_weight`; their arguments and results
    carry `#pipe.role`s. `recompute` says what the backward recomputes, if that is not the default.

    Example:
    ```mlir
    %y = pipe.chunk 1 @net_chunk1(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$index,
    FlatSymbolRefAttr:$primal,
    Variadic<AnyStaticShapeTensor>:$operands,
    OptionalAttr<FlatSymbolRefAttr>:$forward,
    OptionalAttr<FlatSymbolRefAttr>:$backward,
    OptionalAttr<FlatSymbolRefAttr>:$backward_input,
    OptionalAttr<FlatSymbolRefAttr>:$backward_weight,
    OptionalAttr<FlatSymbolRefAttr>:$recomputation,
    OptionalAttr<Pipe_CostAttr>:$cost,
    OptionalAttr<StrAttr>:$recompute
  );
  let results = (outs Variadic<AnyStaticShapeTensor>:$results);
  let assemblyFormat = [{
    $index $primal `(` $operands `)` attr-dict `:` functional-type($operands, $results)
  }];
  let hasVerifier = 1;
}

def YieldOp : Pipe_Op<"yield", [HasParent<"PipelineOp">]> {
  let summary = "The model's results: the loss, then metrics";
  let arguments = (ins Variadic<AnyStaticShapeTensor>:$results, OptionalAttr<StrArrayAttr>:$names);
  let assemblyFormat = "$results (`as` $names^)? attr-dict `:` type($results)";
  let hasVerifier = 1;
  let description = [{
    `names` has the names by which users know the results; without it they are `loss`, `metric1`, `metric2`, ...

    Example:
    ```mlir
    pipe.yield %loss, %tokens as ["loss", "tokens"] : tensor<f32>, tensor<f32>
    ```
  }];
}

#endif // VEELINE_DIALECT_PIPE_IR_PIPELINEOPS
