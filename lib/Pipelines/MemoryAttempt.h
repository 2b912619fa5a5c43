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
  /// The costs and memory that the schedule uses.
  schedule::Chunk chunk = {};
  /// The same without the memory of values that another chunk of the rank has
  /// produced and may hold, too. The sum over the chunks of a rank is a lower
  /// bound.
  schedule::Chunk own = {};
  pipe::CostAttr cost = {};
  /// For each kind of function, the bytes of its workspace, and the most bytes
  /// of it that are live at once. 0 until measured.
  ByFunctionKind<int64_t> workspaces = {}, livePeaks = {};
  FunctionKinds isMeasured = {};
  /// On a GPU: the functions that call the library, and the dense constants of
  /// each function.
  FunctionKinds callsLibrary = {};
  ByFunctionKind<std::vector<mlir::OwningOpRef<mlir::memref::GlobalOp>>>
      constants = {};
  /// The functions without their bodies. Null for a function that the chunk
  /// does not have.
  ByFunctionKind<mlir::OwningOpRef<mlir::func::FuncOp>> declarations = {};
  /// The functions on tensors, until their workspaces have been measured.
  mlir::OwningOpRef<mlir::ModuleOp> functions = {};
};

/// One way to compile, carried through to the plan of memory.
struct MemoryAttempt {
  std::vector<Recompute> policies;
  /// The limits for the schedule, one for each stage. Empty if there are none.
  std::vector<int64_t> scheduleLimits;
  /// The time that the schedule may search.
  double searchSeconds = schedule::GeneratorOptions().searchSeconds;
  /// Why no order meets `scheduleLimits`. If set, the members below are
  /// unknown.
  std::optional<schedule::Error> outOfMemory = std::nullopt;
  /// For each stage, the bytes of its arena, and the most that its schedule
  /// holds. If a stage has several ranks, the largest of theirs, because limits
  /// hold for each rank.
  std::vector<int64_t> arenas = {}, held = {};
  /// For each arena, the bytes of parameters, their gradients and the
  /// optimiser's state.
  std::vector<int64_t> lasting = {};
  /// For each stage, the rank of that arena.
  std::vector<int> worstRanks = {};
  /// The time of a step, by the objective of the schedule.
  double step = 0;
  std::optional<schedule::Problem> problem = std::nullopt;
  schedule::Schedule order = {};

  bool fits(llvm::ArrayRef<int64_t> limits) const;
};

/// For each stage, the peak memory of the rank that holds the most.
std::vector<int64_t> getPeaks(const schedule::Problem &problem,
                              const schedule::Simulation &simulation);

/// Tries ways to compile one model with one choice of cuts. For each choice of
/// what it recomputes, a chunk is differentiated once and bufferized once,
/// because its workspaces depend on nothing else. Schedules and plans need only
/// declarations of its functions.
class MemoryTrial {
public:
  /// `model` contains a model function, and is not changed. `pieces` may be
  /// empty.
  MemoryTrial(mlir::ModuleOp model, const CompileOptions &options,
              std::vector<int64_t> pieces);

  /// Cuts the model into chunks. Fails with a diagnostic.
  mlir::LogicalResult partition();
  pipe::Placement getPlacement();
  /// The number of pieces of each chunk.
  std::vector<int64_t> getPieces();
  /// The measured time of a chunk's forward, divided by the estimate of the
  /// cost model.
  double getForwardScale(int number);
  /// A module with the pipeline, whose chunks are differentiated and split.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  differentiate(mlir::ArrayRef<Recompute> policies);
  /// Carries one way to compile through to the plan of memory. Fails with a
  /// diagnostic for all errors other than a lack of memory.
  mlir::FailureOr<MemoryAttempt>
  attempt(std::vector<Recompute> policies,
          std::vector<int64_t> scheduleLimits = {},
          double searchSeconds = schedule::GeneratorOptions().searchSeconds);

  /// Chunk `number` under `policy`. Fails with a diagnostic.
  mlir::FailureOr<const ChunkVariant *> getVariant(int number,
                                                   const Recompute &policy);
  /// Measures the workspaces of each chunk and policy in `wanted`. Measures
  /// only functions that an order of an attempt so far runs.
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
  /// The kinds of functions that orders have run so far.
  FunctionKinds usedKinds = {};
};

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_MEMORYATTEMPT_H
