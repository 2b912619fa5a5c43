//===- MemoryAttempt.h - what one way to compile would take -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_PIPELINES_MEMORYATTEMPT_H
#define VEELINE_LIB_PIPELINES_MEMORYATTEMPT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "veeline/Analysis/Recompute.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"
#include "veeline/Pipelines/Pipelines.h"
#include "veeline/Schedule/Schedule.h"

#include <array>
#include <map>

namespace veeline {

/// Bytes of workspace of each function of a chunk, by the kind of function.
struct Workspaces {
  struct Sizes {
    int64_t bytes = 0, peakLive = 0;
  };
  std::array<Sizes, 4> kinds = {};
};

/// One way to compile, carried through to the plan of memory.
struct MemoryAttempt {
  std::vector<Recompute> policies;
  /// For the schedule; empty: none.
  std::vector<int64_t> scheduleLimits;
  /// Where no order fits `scheduleLimits`: why. Nothing below is known then.
  std::optional<schedule::Error> outOfMemory = std::nullopt;
  /// Bytes of each rank's arena, and of what is held in its schedule at most.
  std::vector<int64_t> arenas = {}, held = {};
  /// Bytes of each arena that parameters, their gradients and the optimiser's
  /// state take.
  std::vector<int64_t> lasting = {};
  double makespan = 0;
  /// What chunks add and release, their order, and their workspaces.
  std::vector<schedule::Chunk> chunks = {};
  schedule::Schedule order = {};
  std::vector<Workspaces> workspaces = {};
};

/// Tries ways to compile one model under one choice of cuts. Workspaces are
/// measured once for each way to recompute, by bufferizing all chunks: they
/// depend on nothing else.
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
  /// The pipeline with chunks that are differentiated and split.
  mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  differentiate(mlir::ArrayRef<Recompute> policies);
  /// Fails with a diagnostic where something is wrong that has nothing to do
  /// with memory.
  mlir::FailureOr<MemoryAttempt>
  attempt(std::vector<Recompute> policies,
          std::vector<int64_t> scheduleLimits = {});

private:
  mlir::FailureOr<const std::vector<Workspaces> *>
  measure(const Recompute &policy);
  mlir::LogicalResult setWorkspaces(mlir::ModuleOp module,
                                    MemoryAttempt &attempt);

  mlir::ModuleOp model;
  const CompileOptions &options;
  std::vector<int64_t> pieces;
  mlir::OwningOpRef<mlir::ModuleOp> partitioned;
  std::map<std::string, std::vector<Workspaces>> measured;
};

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_MEMORYATTEMPT_H
