//===- VerifyPrograms.cpp - verification of programs ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyPrograms.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// Names a rank in the form "stage 1", or "rank 3 (replica 1 of stage 1)" if
/// the stage has several.
static std::string getRankName(PipelineOp pipeline, int64_t stage,
                               int64_t replica) {
  std::string name = "stage " + std::to_string(stage);
  if (pipeline.getWidth(stage) == 1)
    return name;
  return "rank " + std::to_string(pipeline.getFirstRank(stage) + replica) +
         " (replica " + std::to_string(replica) + " of " + name + ")";
}

/// Checks that every rank has one program.
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

/// Checks that the gradients of an update are those of all chunks that have
/// one, in order.
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

/// Checks that all ranks of a parameter's home update it.
static LogicalResult verifyAllUpdate(
    const PipelineTables &tables,
    const llvm::DenseMap<uint64_t, SmallVector<UpdateOp>> &updates) {
  for (auto [number, param] : llvm::enumerate(tables.params)) {
    auto found = updates.find(number);
    std::optional<int64_t> home = tables.getHome(number);
    if (found == updates.end() || !home)
      continue;
    int64_t width = PipelineOp(tables.pipeline).getWidth(*home);
    llvm::SmallDenseSet<Operation *> ranks;
    for (UpdateOp update : found->second)
      ranks.insert(update->getParentOp());
    if (static_cast<int64_t>(ranks.size()) != width)
      return UpdateOp(found->second.front()).emitOpError()
             << "updates parameter " << number << ", as " << ranks.size()
             << " of the " << width << " ranks of stage " << *home
             << " do; all of them have a copy, which has to stay the same";
  }
  return success();
}

/// Checks that programs update no parameter, or every parameter with gradients,
/// at its home.
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

/// Whether `value` are the norms that `program` receives over the edge between
/// `stage` and the next stage.
static bool areNorms(Value value, const PipelineTables &tables, int64_t stage,
                     Direction direction) {
  auto received = value ? value.getDefiningOp<EdgeValueOp>() : EdgeValueOp();
  return received && received.getDirection() == direction &&
         static_cast<int64_t>(received.getEdge()) ==
             tables.edges.getNorms(stage);
}

/// The op that adds the norms of the stage's own parameters to those of earlier
/// stages, given a pipe.clip. Null if the pipe.clip does not take the norms of
/// all stages.
static GatherNormsOp findOwnNorms(ClipOp clip, const PipelineTables &tables,
                                  int64_t stage) {
  auto all = clip.getNorms().getDefiningOp<GatherNormsOp>();
  bool isLast = stage + 1 ==
                static_cast<int64_t>(PipelineOp(tables.pipeline).getStages());
  if (!all || isLast)
    return all;
  if (!all.getParams().empty() ||
      !areNorms(all.getBefore(), tables, stage, Direction::Gradient))
    return {};
  auto program = cast<ProgramOp>(clip->getParentOp());
  for (auto norms : program.getBody().getOps<GatherNormsOp>())
    if (norms != all)
      return norms;
  return {};
}

/// Checks that updates are clipped by the norm of all gradients. Each stage has
/// to add the norms of its own parameters' gradients, as its updates take them,
/// to those of the stages before.
static LogicalResult verifyNorms(ProgramOp program,
                                 const PipelineTables &tables) {
  auto stage = static_cast<int64_t>(program.getStage());
  llvm::MapVector<int64_t, UpdateOp> updates;
  for (auto update : program.getBody().getOps<UpdateOp>())
    updates[update.getParam()] = update;
  for (auto clip : program.getBody().getOps<ClipOp>()) {
    GatherNormsOp own = findOwnNorms(clip, tables, stage);
    bool isRight =
        own && (stage == 0 ? !own.getBefore()
                           : areNorms(own.getBefore(), tables, stage - 1,
                                      Direction::Activation));
    if (!isRight)
      return clip.emitOpError(
          "does not take the norms of all stages: those that the stage before "
          "sends and those of the stage's own parameters, on the last stage, "
          "and what the next stage sends back, on others");
    if (!llvm::equal(own.getParams(), llvm::make_first_range(updates)))
      return own.emitOpError("does not have the norms of the parameters that "
                             "its program updates");
    for (Value value : own.getNorms()) {
      auto norm = value.getDefiningOp<SquaredNormOp>();
      UpdateOp update = updates.lookup(norm.getParam());
      if (llvm::equal(norm.getGradients(), update.getGradients()))
        continue;
      InFlightDiagnostic diagnostic = norm.emitOpError()
                                      << "is not of the gradients of parameter "
                                      << norm.getParam();
      diagnostic.attachNote(update.getLoc()) << "the parameter is updated here";
      return diagnostic;
    }
  }
  return success();
}

LogicalResult veeline::pipe::verifyPrograms(const PipelineTables &tables,
                                            ArrayRef<ProgramOp> programs) {
  if (failed(verifyRanks(tables.pipeline, programs)))
    return failure();
  std::optional<ClipSync> sync = PipelineOp(tables.pipeline).getClipSync();
  for (ProgramOp program : programs)
    if (sync == ClipSync::Optimistic &&
        program.getBody().getOps<ValidateOp>().empty())
      return program.emitOpError(
          "has no pipe.validate, which every rank of a pipeline with "
          "'clip_sync(optimistic)' needs");
  if (sync == ClipSync::Barrier)
    for (ProgramOp program : programs)
      if (failed(verifyNorms(program, tables)))
        return failure();
  return verifyUpdates(tables, programs);
}
