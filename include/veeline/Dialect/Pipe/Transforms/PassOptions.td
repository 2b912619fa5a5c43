//===- PassOptions.td - options of several passes ----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_DIALECT_PIPE_TRANSFORMS_PASSOPTIONS
#define VEELINE_DIALECT_PIPE_TRANSFORMS_PASSOPTIONS

include "veeline/Dialect/Pipe/IR/TargetOption.td"

class StrategyOption<string name>
    : Option<name, name, "::veeline::schedule::communication::Strategy",
             "::veeline::schedule::communication::Strategy::Overlap",
             "p2p, batched, ring, overlap or duplex",
             [{::llvm::cl::values(
               clEnumValN(::veeline::schedule::communication::Strategy::PointToPoint, "p2p", "one message at a time"),
               clEnumValN(::veeline::schedule::communication::Strategy::Batched, "batched", "a send and a receive at a time"),
               clEnumValN(::veeline::schedule::communication::Strategy::Ring, "ring", "both neighbours at a time"),
               clEnumValN(::veeline::schedule::communication::Strategy::Overlap, "overlap", "receives posted ahead"),
               clEnumValN(::veeline::schedule::communication::Strategy::Duplex, "duplex", "sends and receives side by side"))}]>;

class ModelOption<string cppName, string model, string desc>
    : Option<cppName, "model", "::veeline::schedule::communication::Model",
             "::veeline::schedule::communication::Model::" # model, desc,
             [{::llvm::cl::values(
               clEnumValN(::veeline::schedule::communication::Model::Nccl, "nccl", "the rules of NCCL"),
               clEnumValN(::veeline::schedule::communication::Model::Mpi, "mpi", "the rules of MPI, and of memory that is shared"),
               clEnumValN(::veeline::schedule::communication::Model::NcclDuplex, "nccl-duplex", "the rules of NCCL where a device runs sends and receives side by side"))}]>;

def ClipSyncOption
    : Option<"clipSync", "clip-sync", "std::string", "\"none\"",
             "Whether updates depend on the norm of all gradients, and how: none, barrier or optimistic">;

def ObjectiveOption
    : Option<"objective", "objective", "::veeline::schedule::Objective", "::veeline::schedule::Objective::Period",
             "What a schedule that has a choice makes short: period (steps follow one another, as on a host), makespan or span",
             [{::llvm::cl::values(
               clEnumValN(::veeline::schedule::Objective::Period, "period", "the time from one step to the next"),
               clEnumValN(::veeline::schedule::Objective::Makespan, "makespan", "a step alone, of all ranks"),
               clEnumValN(::veeline::schedule::Objective::Span, "span", "a step alone, of the slowest rank"))}]>;

#endif // VEELINE_DIALECT_PIPE_TRANSFORMS_PASSOPTIONS
