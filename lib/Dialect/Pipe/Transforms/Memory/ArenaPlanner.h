//===- ArenaPlanner.h - the arena of one rank -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_ARENAPLANNER_H
#define VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_ARENAPLANNER_H

#include "Schedule/PipelineTables.h"

#include "veeline/Analysis/OffsetAllocator.h"
#include "veeline/Base/Optimizers.h"
#include "veeline/Dialect/Pipe/Transforms/MemoryPlan.h"
#include "veeline/Dialect/Pipe/Transforms/Step.h"
#include "veeline/Dialect/Pipe/Transforms/StreamOrder.h"

namespace veeline::pipe {

/// The size of the workspace of a GPU's libraries.
enum class LibraryMemory {
  Least,
  Ample ///< As much as the functions ask for (libraryBytesAttrName).
};

/// Plans the arena of one rank.
class ArenaPlanner {
public:
  ArenaPlanner(PipelineTables &tables, ProgramOp program, Optimizer optimizer,
               bool errorFeedback, KernelTarget target,
               llvm::ArrayRef<PipelineOp> versions, StreamOrder order,
               LibraryMemory library, mlir::SymbolTableCollection &symbols)
      : tables(tables), program(program), optimizer(optimizer),
        errorFeedback(errorFeedback), alignment(getArenaAlignment(target)),
        isOnDevice(target == KernelTarget::Cuda), versions(versions),
        library(library), symbols(symbols), order(std::move(order)) {}

  mlir::LogicalResult run();
  /// The size of the arena in the plan.
  int64_t getArenaBytes() const { return plan.arenaBytes; }

private:
  /// Identifies memory: that of one result of an op, of the copy of one
  /// argument, or, with neither number, of the workspace.
  struct Slot {
    mlir::Operation *op;
    std::optional<unsigned> result;
    std::optional<unsigned> argument = std::nullopt;
  };

  bool isHere(int64_t chunk) {
    return tables.pipeline.getStageOf(chunk) ==
           static_cast<int64_t>(program.getStage());
  }
  /// The number of ranks that sum gradients together, including this one.
  int64_t getNumMembers() {
    return tables.pipeline.getNumMembers(program.getStage());
  }
  int64_t getStage() const {
    return static_cast<int64_t>(ProgramOp(program).getStage());
  }
  int64_t getStateBytes(mlir::ShapedType type) const;
  int64_t countOlderVersions(int64_t param) const;
  llvm::SmallVector<int64_t> reserveVersions(int64_t param, int64_t bytes);
  void placeUpdateWorkspace();
  void placeSums();
  void placeParams();
  void placeRounded();
  void placeOutputs();
  llvm::SmallVector<mlir::func::FuncOp> getFunctions(mlir::Operation *op);
  int64_t getLibraryBytes(llvm::ArrayRef<mlir::func::FuncOp> functions) const;
  void placeDevice();
  mlir::LogicalResult checkDevice();
  bool isReadLate(mlir::Value input);
  void placeInputs(MemoryPlan::Device &device);
  void placeConstants(MemoryPlan::Device &device,
                      llvm::ArrayRef<mlir::func::FuncOp> functions);
  void placeSettings(MemoryPlan::Device &device);
  void placeResults(MemoryPlan::Device &device);
  mlir::LogicalResult checkStreams();
  int64_t findNextTurnEnd(mlir::Value value) const;
  void addUses(mlir::Value value, StreamOrder::Point &uses);
  void addSlices(mlir::Operation *op);
  mlir::LogicalResult placeReductions();
  mlir::LogicalResult addPieces(int64_t number, const Reduction &reduction);
  mlir::LogicalResult addGathered(int64_t number, const Reduction &reduction);
  void addBuffers(int64_t number, Reduction &reduction);
  int64_t getOwner(const MemoryPlan::ReducedPiece &piece) const;
  int64_t placeContributions(int64_t number, int64_t begin);
  void chooseOwners();
  void placeOwnedStates();
  void placeBuffers();
  mlir::LogicalResult collect();
  void placeOnHost();
  /// `nextTurnEnd` is the end of the value's life in the next turn, or 0 if
  /// there is none.
  void addSlot(Slot slot, const StreamOrder::Point &uses, uint64_t bytes,
               uint64_t liveBytes, int64_t nextTurnEnd = 0);
  void writeOffsets(const OffsetPlan &plan);
  int64_t reserve(uint64_t bytes) {
    int64_t offset = persistent;
    persistent += llvm::alignTo(bytes, alignment);
    return offset;
  }

  PipelineTables &tables;
  ProgramOp program;
  Optimizer optimizer;
  bool errorFeedback;
  uint64_t alignment;
  bool isOnDevice;
  /// The pipeline's version for each length. Empty if there is only one length.
  llvm::ArrayRef<PipelineOp> versions;
  LibraryMemory library;
  mlir::SymbolTableCollection &symbols;
  MemoryPlan plan;
  int64_t persistent = 0;
  StreamOrder order;
  /// On a GPU, the result of findSendEnds.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> sendEnds;
  llvm::SmallVector<Slot> slots;
  llvm::SmallVector<Reduction> reductions;
  /// By parameter whose update one member of the stage makes.
  llvm::DenseMap<int64_t, int64_t> owners;
  std::vector<LiveInterval> intervals, liveBytes;
  StreamLives lives;
};

} // namespace veeline::pipe

#endif // VEELINE_LIB_DIALECT_PIPE_TRANSFORMS_MEMORY_ARENAPLANNER_H
