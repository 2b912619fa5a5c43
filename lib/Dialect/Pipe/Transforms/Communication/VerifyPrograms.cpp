//===- VerifyPrograms.cpp - programs that messages can serve --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyPrograms.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// As in "stage 1", or "rank 3 (replica 1 of stage 1)" where that has several.
static std::string getRankName(PipelineOp pipeline, int64_t stage,
                               int64_t replica) {
  std::string name = "stage " + std::to_string(stage);
  if (pipeline.getWidth(stage) == 1)
    return name;
  return "rank " + std::to_string(pipeline.getFirstRank(stage) + replica) +
         " (replica " + std::to_string(replica) + " of " + name + ")";
}

/// Every rank has one program.
static LogicalResult verifyRanks(PipelineOp pipeline,
                                 ArrayRef<ProgramOp> programs) {
  int64_t next = 0;
  for (ProgramOp program : programs) {
    int64_t rank = pipeline.getRankOf(program);
    if (rank == next) {
      ++next;
      continue;
    }
    if (rank > next)
      break;
    ProgramOp other = programs[next - 1];
    InFlightDiagnostic diagnostic =
        program.emitOpError()
        << "is a second program of "
        << getRankName(pipeline, program.getStage(), program.getReplica())
        << "; a "
        << (pipeline.getWidth(program.getStage()) == 1 ? "stage" : "rank")
        << " runs one";
    diagnostic.attachNote(other.getLoc()) << "the other one is here";
    return diagnostic;
  }
  if (next == pipeline.getNumRanks())
    return success();
  int64_t stage = 0;
  while (pipeline.getFirstRank(stage + 1) <= next)
    ++stage;
  return pipeline.emitOpError()
         << "has " << pipeline.getStages()
         << (pipeline.getStages() == 1 ? " stage" : " stages") << ", but "
         << getRankName(pipeline, stage, next - pipeline.getFirstRank(stage))
         << " has no program; run --pipe-schedule, or write one for each";
}

/// The gradients of an update are those of all chunks that have one, in order.
static LogicalResult verifyGradients(UpdateOp update,
                                     const PipelineTables &tables) {
  auto users = tables.getGradientUsers(update.getParam());
  auto isGradient = [&](Value value, std::pair<int64_t, unsigned> user) {
    if (auto sum = value.getDefiningOp<GradientOp>())
      return sum.getParam() == update.getParam() &&
             static_cast<int64_t>(sum.getChunk()) == user.first;
    auto message = value.getDefiningOp<EdgeValueOp>();
    return message && message.getDirection() == Direction::Gradient &&
           tables.edges.getIncoming(user.first, user.second) ==
               static_cast<int64_t>(message.getEdge());
  };
  if (users.size() == update.getGradients().size() &&
      llvm::all_of(llvm::zip(update.getGradients(), users), [&](auto pair) {
        return isGradient(std::get<0>(pair), std::get<1>(pair));
      }))
    return success();
  InFlightDiagnostic diagnostic =
      update.emitOpError() << "does not add up the gradients of parameter "
                           << update.getParam() << ", which are those of chunk";
  llvm::interleave(
      users, [&](auto user) { diagnostic << ' ' << user.first; },
      [&] { diagnostic << ','; });
  return diagnostic << " in this order, each once";
}

/// All ranks of a parameter's home update it.
static LogicalResult verifyAllUpdate(
    const PipelineTables &tables,
    const llvm::DenseMap<uint64_t, SmallVector<UpdateOp>> &updates) {
  for (auto [number, param] : llvm::enumerate(tables.params)) {
    auto found = updates.find(number);
    std::optional<int64_t> home = tables.getHome(number);
    if (found == updates.end() || !home)
      continue;
    int64_t width = PipelineOp(tables.pipeline).getWidth(*home);
    if (static_cast<int64_t>(found->second.size()) != width)
      return UpdateOp(found->second.front()).emitOpError()
             << "updates parameter " << number << ", as "
             << found->second.size() << " of the " << width
             << " ranks of stage " << *home
             << " do; all of them have a copy, which has to stay the same";
  }
  return success();
}

/// Programs update no parameter, or each that has gradients at its home.
static LogicalResult verifyUpdates(const PipelineTables &tables,
                                   ArrayRef<ProgramOp> programs) {
  llvm::DenseMap<uint64_t, SmallVector<UpdateOp>> updates;
  for (ProgramOp program : programs)
    for (auto update : program.getBody().getOps<UpdateOp>()) {
      std::optional<int64_t> home = tables.getHome(update.getParam());
      if (home && static_cast<int64_t>(program.getStage()) != *home)
        return update.emitOpError()
               << "is on stage " << program.getStage() << ", but parameter "
               << update.getParam() << " is updated on stage " << *home
               << ", where the first chunk is that uses it";
      if (failed(verifyGradients(update, tables)))
        return failure();
      updates[update.getParam()].push_back(update);
    }
  if (updates.empty())
    return success();
  for (auto [number, param] : llvm::enumerate(tables.params)) {
    if (updates.contains(number) || tables.getGradientUsers(number).empty())
      continue;
    InFlightDiagnostic diagnostic = ParamOp(param).emitOpError()
                                    << "has gradients, but no program updates "
                                       "it, while others are updated";
    diagnostic.attachNote(UpdateOp(updates.begin()->second[0]).getLoc())
        << "another parameter is updated here";
    return diagnostic;
  }
  return verifyAllUpdate(tables, updates);
}

LogicalResult veeline::pipe::verifyPrograms(const PipelineTables &tables,
                                            ArrayRef<ProgramOp> programs) {
  if (failed(verifyRanks(tables.pipeline, programs)))
    return failure();
  return verifyUpdates(tables, programs);
}
