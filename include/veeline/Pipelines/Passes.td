//===- Passes.td - passes over several phases --------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_PIPELINES_PASSES
#define VEELINE_PIPELINES_PASSES

include "veeline/Dialect/Pipe/Transforms/PassOptions.td"

def PipeFitMemory : Pass<"pipe-fit-memory", "::mlir::ModuleOp"> {
  let summary = "Cut and differentiate the model so that every arena is within its limit";
  let description = [{
    Does the work of `--pipe-partition`, `--pipe-differentiate` and `--pipe-split-backward`, and
    makes their open choices so that no rank's arena exceeds its `memory-limit`, in the least
    predicted time that it finds. These choices are limits of the schedule, what chunks whose
    `recompute` is `auto` recompute, and cuts, unless `pieces` gives them. Every choice is carried
    through to the memory plan. docs/differentiation.md describes the search. If stages have several
    ranks (`stage-replicas`), the limit of a stage applies to each of them.

    The pipeline gets the limits as `pipe.memory_limits`, which `--pipe-plan-memory` checks, and
    those of its schedule as `pipe.schedule_limits`, if it needs them. `schedule`, `microbatches`,
    `replicas`, `communication` (with `model`), `optimizer` and `error-feedback` have to be those of
    `--pipe-schedule`, `--pipe-insert-communication` and `--pipe-plan-memory` later. If nothing
    fits, the error names the stage, its limit, the smallest arena that was found, and what would
    help.
  }];
  let options = [
    ListOption<"memoryLimits", "memory-limit", "std::string",
               "The largest arena of a rank, such as 2GiB; one for all or one a stage">,
    ListOption<"recompute", "recompute", "std::string",
               "What backwards recompute: auto, or as for --pipe-differentiate; one for all or one a chunk">,
    Option<"entry", "entry", "std::string", "", "The model function (default: the only public one)">,
    Option<"stages", "stages", "int64_t", "1", "Number of stages p">,
    Option<"chunksPerStage", "chunks-per-stage", "int64_t", "1", "Chunks of each stage v">,
    Option<"microbatches", "microbatches", "int64_t", "1", "Number of microbatches m">,
    Option<"replicas", "replicas", "int64_t", "1", "Pipelines side by side d">,
    StrategyOption<"communication">,
    ModelOption<"rules", "Mpi", "Whose rules overlap is for: nccl, mpi or nccl-duplex">,
    Option<"schedule", "schedule", "std::string", "\"1f1b\"", "Name of the schedule, or file:PATH">,
    ObjectiveOption,
    Option<"placement", "placement", "std::string", "",
           "linear, interleaved, v or wave (default: the schedule's)">,
    ListOption<"pieces", "pieces", "int64_t", "Pieces of each chunk, in model order">,
    Option<"profile", "profile", "std::string", "", "File of veeline train --profile with the times of the pieces">,
    Option<"machineTable", "machine-table", "std::string", "",
           "File of veeline doctor --calibrate: how fast this machine is, without a profile">,
    Option<"machineCores", "machine-cores", "int64_t", "0",
           "Cores that the ranks have there, all of them (default: those that the table says)">,
    Option<"optimizer", "optimizer", "std::string", "\"adamw\"", "Name of the optimiser, as of veeline compile: decides how much state there is">,
    Option<"shardOptimizer", "shard-optimizer", "bool", "false",
           "Each rank of a stage updates only a share of the parameters">,
    Option<"ncclSums", "nccl-sums", "bool", "false",
           "On a GPU: NCCL adds up gradients between processes, without buffers">,
    Option<"errorFeedback", "error-feedback", "bool", "false",
           "The state has the update before, by which updates correct themselves">,
    ListOption<"stageReplicas", "stage-replicas", "int64_t",
               "Ranks of each stage (default: one each)">,
    ClipSyncOption,
    TargetOption<"Where arenas are">,
    Option<"offload", "offload", "double", "0",
           "Activations may wait in the host's memory, over links of so many gigabytes a second">,
    Option<"recomputeAhead", "recompute-ahead", "bool", "false",
           "What backwards recompute runs ahead of them">,
    Option<"chunkStreams", "chunk-streams", "bool", "false",
           "A compute stream for each chunk of a rank, on a GPU">
  ];
}

#endif // VEELINE_PIPELINES_PASSES
