//===- MemoryAttempt.h - the cost of one way to compile ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_PIPELINES_MEMORYATTEMPT_H
#define VEELINE_LIB_PIPELINES_MEMORYATTEMPT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/Analysis/Recompute.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Pipelines/Pipelines.h"
#include "veeline/Schedule/Generators.h"

#include <array>
#include <map>

namespace veeline {

template <typename T>
using ByFunctionKind = std::array<T, pipe::numChunkFunctionKinds>;
/// A set of a chunk's functions, by `pipe::ChunkFunctionKind`.
using FunctionKinds = ByFunctionKind<bool>;

/// One chunk under one choice of what it recomputes.
struct ChunkVariant {
  Recompute policy;
  /// Costs and memory for the schedule.
  schedule::Chunk chunk = {};
  /// The same, without the memory of values that another chunk of the rank has
  /// made and may hold too. Its sum over the chunks of a rank is never too
  /// much.
  schedule::Chunk own = {};
  pipe::CostAttr cost = {};
  /// Bytes of each function's workspace, and the most of them that are live at
  /// once, by kind; 0 until measured.
  ByFunctionKind<int64_t> workspaces = {}, livePeaks = {};
  FunctionKinds isMeasured = {};
  /// On a GPU: which of them call the library, and the dense constants of each.
  FunctionKinds callsLibrary = {};
  ByFunctionKind<std::vector<mlir::OwningOpRef<mlir::memref::GlobalOp>>>
      constants = {};
  /// The functions without their bodies, null where there is none.
  ByFunctionKind<mlir::OwningOpRef<mlir::func::FuncOp>> declarations = {};
  /// The functions on tensors, until their workspaces are measured.
  mlir::OwningOpRef<mlir::ModuleOp> functions = {};
};

/// One way to compile, carried through to the plan of memory.
struct MemoryAttempt {
  std::vector<Recompute> policies;
  /// Limits for the schedule, one a stage; empty: none.
  std::vector<int64_t> scheduleLimits;
  /// How long the schedule may search.
  double searchSeconds = schedule::GeneratorOptions().searchSeconds;
  /// Why no order meets `scheduleLimits`; nothing below is known then.
  std::optional<schedule::Error> outOfMemory = std::nullopt;
  /// Bytes of each stage's arena, and the most that its schedule holds. Of a
  /// stage with several ranks, the largest of theirs: a limit is one for each
  /// rank.
  std::vector<int64_t> arenas = {}, held = {};
  /// Bytes of each arena that parameters, their gradients and the optimiser's
  /// state take.
  std::vector<int64_t> lasting = {};
  /// The rank of each stage whose arena that is.
  std::vector<int> worstRanks = {};
  /// What a step takes, by the objective of the schedule.
  double step = 0;
  std::optional<schedule::Problem> problem = std::nullopt;
  schedule::Schedule order = {};

  bool fits(llvm::ArrayRef<int64_t> limits) const;
};

/// For each stage, the peak memory of the rank that holds most.
std::vector<int64_t> getPeaks(const schedule::Problem &problem,
                              const schedule::Simulation &simulation);

/// Tries ways to compile one model under one choice of cuts. For each choice of
/// what it recomputes, a chunk is differentiated once and bufferized once; its
/// workspaces depend on nothing else. Schedules and plans are then made of
/// declarations alone.
class MemoryTrial {
public:
  /// `model` holds a model function; it stays as it is. `pieces` may be empty.
  MemoryTrial(mlir::ModuleOp model, const CompileOptions &options,
              std::vector<int64_t> pieces);

  /// Cuts the model. Fails with a diagnostic.
  mlir::LogicalResult partition();
  pipe::Placement getPlacement();
  /// The number of pieces of each chunk.
  std::vector<int64_t> getPieces();
  /// The measured time of a chunk's forward, divided by the cost model's.
  double getForwardScale(int number);
  /// The pipeline with chunks that are differentiated and split.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  differentiate(mlir::ArrayRef<Recompute> policies);
  /// Fails with a diagnostic for errors other than a lack of memory.
  mlir::FailureOr<MemoryAttempt>
  attempt(std::vector<Recompute> policies,
          std::vector<int64_t> scheduleLimits = {},
          double searchSeconds = schedule::GeneratorOptions().searchSeconds);

  /// Chunk `number` under `policy`. Fails with a diagnostic.
  mlir::FailureOr<const ChunkVariant *> getVariant(int number,
                                                   const Recompute &policy);
  /// Measures workspaces for each chunk and policy of `wanted`: those of the
  /// functions that the orders of the attempts so far run.
  mlir::LogicalResult measure(llvm::ArrayRef<std::pair<int, Recompute>> wanted);
  const CompileOptions &getOptions() const { return options; }
  mlir::MLIRContext *getContext() { return model.getContext(); }

private:
  using Key = std::pair<int, std::string>;

  mlir::LogicalResult makeVariant(int number, ChunkVariant &variant);
  mlir::LogicalResult measure(int number, ChunkVariant &variant);
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  declare(llvm::ArrayRef<Recompute> policies);
  void setWorkspaces(mlir::ModuleOp module, llvm::ArrayRef<Recompute> policies);

  mlir::ModuleOp model;
  const CompileOptions &options;
  std::vector<int64_t> pieces;
  mlir::OwningOpRef<mlir::ModuleOp> partitioned;
  std::map<Key, ChunkVariant> variants;
  /// The kinds of functions that orders ran so far.
  FunctionKinds usedKinds = {};
};

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_MEMORYATTEMPT_H
