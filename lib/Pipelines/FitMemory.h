//===- FitMemory.h - compiling within limits of memory ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_PIPELINES_FITMEMORY_H
#define VEELINE_LIB_PIPELINES_FITMEMORY_H

#include "MemoryAttempt.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

namespace veeline {

/// Finds a way to compile a model such that no arena exceeds its limit. Tries,
/// in this order:
/// - the schedule without limits
/// - the schedule under limits
/// - more recomputation, if that is left open
/// - other cuts, if these are left open
///
/// Of the ways that fit with the same cuts, takes the one with the shortest
/// predicted step. A schedule that searches for its order does so twice: for a
/// short time while ways are compared, then for as long as it is allowed,
/// within the limits of the way that was taken. The shorter of these two orders
/// is the result, if it fits.
class MemoryFitter {
public:
  MemoryFitter(mlir::ModuleOp model, const CompileOptions &options)
      : model(model), options(options), location(model.getLoc()) {}

  /// Replaces the model function by its pipeline. Fails with a diagnostic. If
  /// nothing fits, this names the stage, its limit, the least memory that was
  /// possible, and what would help.
  mlir::LogicalResult run();

private:
  /// The least memory that stages can have with one choice of cuts, as far as
  /// known.
  struct Least {
    /// For each stage, the bytes of the smallest arena that was planned, and of
    /// the part of it that lasts throughout the step.
    std::vector<int64_t> arenas = {}, lasting = {};
    /// For each stage, the rank of that arena, and the order for which it was
    /// planned.
    std::vector<int> ranks = {};
    std::vector<schedule::Schedule> orders = {};
    /// The least bytes of activations that this schedule holds, and that any
    /// schedule holds.
    std::optional<std::pair<int64_t, int64_t>> betterSchedule = std::nullopt;
  };

  static constexpr double wholeSeconds =
      schedule::GeneratorOptions().searchSeconds;
  /// The time that a schedule may search while ways to compile are compared.
  static constexpr double quickSeconds = wholeSeconds / 16;

  using Answer = mlir::FailureOr<std::optional<MemoryAttempt>>;

  mlir::LogicalResult readOptions();
  bool canTighten() const;
  double getQuickSeconds() const;
  std::vector<Recompute> computeNothingAgain() const;
  mlir::FailureOr<MemoryAttempt> attempt(MemoryTrial &trial,
                                         std::vector<Recompute> policies,
                                         std::vector<int64_t> scheduleLimits);
  mlir::FailureOr<MemoryAttempt>
  attemptWithin(MemoryTrial &trial, const std::vector<Recompute> &policies,
                std::vector<int64_t> bounds);
  mlir::LogicalResult findLeast(MemoryTrial &trial, const MemoryAttempt &free);
  Answer tighten(MemoryTrial &trial, const MemoryAttempt &free, int tries);
  Answer fitSchedule(MemoryTrial &trial, const MemoryAttempt &free);
  Answer searchChoices(MemoryTrial &trial, const MemoryAttempt &free,
                       std::optional<MemoryAttempt> best);
  Answer solve(MemoryTrial &trial, double freeSeconds);
  mlir::FailureOr<MemoryAttempt> searchLonger(MemoryTrial &trial,
                                              MemoryAttempt found);
  int getWorstStage(llvm::ArrayRef<int64_t> bytes) const;
  std::vector<std::vector<int64_t>>
  getMoves(llvm::ArrayRef<int64_t> pieces, llvm::ArrayRef<int64_t> bytes) const;
  mlir::LogicalResult moveCuts(MemoryTrial &first);
  bool isWide() const;
  std::string nameOfWorst(int stage) const;
  mlir::LogicalResult refuse(MemoryTrial &trial);
  std::string tryAuto(MemoryTrial &trial, int stage);
  mlir::LogicalResult apply(MemoryTrial &trial, const MemoryAttempt &found);

  mlir::ModuleOp model;
  const CompileOptions &options;
  mlir::Location location;
  int64_t numOps = 0;
  pipe::Placement placement = pipe::Placement::Linear;
  std::vector<int64_t> limits;
  std::vector<Recompute> asked;
  bool isAuto = false;
  /// The time that schedules may search in an attempt.
  double searchSeconds = wholeSeconds;
  Least least;
};

} // namespace veeline

#endif // VEELINE_LIB_PIPELINES_FITMEMORY_H
