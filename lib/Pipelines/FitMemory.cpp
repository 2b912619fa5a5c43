//===- FitMemory.cpp - compiling within limits of memory ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A choice is made here only after it has been carried through to the plan of
// memory, so that the result is exact. Estimates of the arena only determine
// what to try next.
//
//===----------------------------------------------------------------------===//

#include "FitMemory.h"

#include "Phases.h"
#include "RecomputeSearch.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "veeline/Pipelines/Limits.h"
#include "veeline/Pipelines/Passes.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Memory.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEFITMEMORY
#include "veeline/Pipelines/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

/// How often a schedule is generated again under tighter limits.
static constexpr int maxTightenings = 6, maxLongTightenings = 3;
/// For models with more ops, the search is narrower: each point of a chunk
/// takes one bufferization of the chunk.
static constexpr int64_t maxOpsForManyCuts = 1000;

//===----------------------------------------------------------------------===//
// One choice of cuts
//===----------------------------------------------------------------------===//

FailureOr<MemoryAttempt>
MemoryFitter::attempt(MemoryTrial &trial, std::vector<Recompute> policies,
                      std::vector<int64_t> scheduleLimits) {
  FailureOr<MemoryAttempt> result = trial.attempt(
      std::move(policies), std::move(scheduleLimits), searchSeconds);
  if (failed(result) || result->outOfMemory)
    return result;
  size_t numStages = result->arenas.size();
  if (least.arenas.empty()) {
    least.arenas.assign(numStages, std::numeric_limits<int64_t>::max());
    least.lasting.resize(numStages);
    least.ranks.resize(numStages);
    least.orders.resize(numStages);
  }
  for (auto [stage, arena] : llvm::enumerate(result->arenas)) {
    if (arena >= least.arenas[stage])
      continue;
    least.arenas[stage] = arena;
    least.lasting[stage] = result->lasting[stage];
    least.ranks[stage] = result->worstRanks[stage];
    least.orders[stage] = result->order;
  }
  return result;
}

/// Whether the schedule can be generated under limits. Only those of the
/// library can.
bool MemoryFitter::canTighten() const {
  return options.schedule != "sequential" &&
         !schedule::scheduleFilePath(options.schedule);
}

double MemoryFitter::getQuickSeconds() const {
  auto known = schedule::findGenerator(options.schedule);
  if (!known || !(*known)->searches)
    return wholeSeconds;
  // `zb-loop` uses a quarter of the time that it is allowed.
  return (*known)->slips ? 2 * quickSeconds : quickSeconds;
}

/// Like `attempt`. If the schedule cannot meet a bound, raises it to the least
/// that it can meet. The result is out of memory only if no bounds help.
FailureOr<MemoryAttempt>
MemoryFitter::attemptWithin(MemoryTrial &trial,
                            const std::vector<Recompute> &policies,
                            std::vector<int64_t> bounds) {
  for (size_t raises = 0;; ++raises) {
    auto result = attempt(trial, policies, bounds);
    if (failed(result) || !result->outOfMemory || raises > bounds.size())
      return result;
    const schedule::Error &error = *result->outOfMemory;
    if (!error.stage || !error.leastLimit ||
        *error.leastLimit <= bounds[*error.stage])
      return result;
    bounds[*error.stage] = *error.leastLimit;
    if (error.leastOfAnySchedule &&
        *error.leastOfAnySchedule < *error.leastLimit)
      least.betterSchedule = {*error.leastLimit, *error.leastOfAnySchedule};
  }
}

/// Finds the least memory of each stage that is still above its limit. That
/// stage gets the tightest bound, and each other stage what it holds in `free`.
LogicalResult MemoryFitter::findLeast(MemoryTrial &trial,
                                      const MemoryAttempt &free) {
  for (int stage = 0, e = limits.size(); stage != e; ++stage) {
    if (least.arenas[stage] <= limits[stage])
      continue;
    std::vector<int64_t> bounds = free.held;
    bounds[stage] = 0;
    if (failed(attemptWithin(trial, free.policies, std::move(bounds))))
      return failure();
  }
  return success();
}

/// Generates the schedule under limits that get tighter until the plan fits, at
/// most `tries` times.
FailureOr<std::optional<MemoryAttempt>>
MemoryFitter::tighten(MemoryTrial &trial, const MemoryAttempt &free,
                      int tries) {
  std::vector<int64_t> bounds = free.held, before;
  MemoryAttempt last = free;
  for (int i = 0; i != tries; ++i) {
    for (auto [bound, held, arena, limit] :
         llvm::zip_equal(bounds, last.held, last.arenas, limits))
      if (arena > limit || i == 0)
        bound = std::max<int64_t>(0, std::min(bound, held) + limit - arena);
    auto result = attemptWithin(trial, free.policies, bounds);
    if (failed(result))
      return failure();
    if (result->outOfMemory || result->scheduleLimits == before)
      break;
    if (result->fits(limits))
      return result;
    before = result->scheduleLimits;
    last = std::move(*result);
  }
  return std::optional<MemoryAttempt>();
}

/// Returns `free` if it fits. Otherwise generates the schedule under limits
/// that get tighter until the plan fits. Returns none if it never does.
FailureOr<std::optional<MemoryAttempt>>
MemoryFitter::fitSchedule(MemoryTrial &trial, const MemoryAttempt &free) {
  if (free.fits(limits))
    return std::optional(free);
  if (!canTighten())
    return std::optional<MemoryAttempt>();
  auto fitted = tighten(trial, free, maxTightenings);
  if (failed(fitted) || *fitted)
    return fitted;
  if (failed(findLeast(trial, free)))
    return failure();
  return std::optional<MemoryAttempt>();
}

/// The policies that were asked for, with None in place of Auto.
std::vector<Recompute> MemoryFitter::computeNothingAgain() const {
  std::vector<Recompute> policies = asked;
  for (Recompute &policy : policies)
    if (policy.kind == RecomputeKind::Auto)
      policy = {RecomputeKind::None};
  return policies;
}

/// Keeps the attempt with the shorter step.
static void keepFaster(std::optional<MemoryAttempt> &best,
                       std::optional<MemoryAttempt> other) {
  if (other && (!best || other->step < best->step))
    best = std::move(other);
}

/// Looks for a faster way than `best`, if any, by choosing what is recomputed.
FailureOr<std::optional<MemoryAttempt>>
MemoryFitter::searchChoices(MemoryTrial &trial, const MemoryAttempt &free,
                            std::optional<MemoryAttempt> best) {
  auto plan = [&](std::vector<Recompute> policies,
                  std::vector<int64_t> bounds) {
    return attempt(trial, std::move(policies), std::move(bounds));
  };
  SearchEffort effort;
  effort.canTighten = canTighten();
  if (numOps > maxOpsForManyCuts) {
    effort.maxCuts = 3;
    effort.withNamed = false;
    effort.allStages = false;
  }
  RecomputeSearch search(trial, asked, limits, free, effort, plan);
  auto found = search.run();
  if (failed(found))
    return failure();
  keepFaster(best, std::move(*found));
  if (!canTighten() && best)
    return best;
  // Under an order that holds little memory, other choices need the least
  // memory than under the order of `free`. Errors report that memory, too.
  std::vector<int64_t> before;
  do {
    before = least.arenas;
    std::optional<double> most;
    if (best)
      most = best->step;
    for (std::vector<Recompute> &policies :
         search.getSteps(least.orders, most)) {
      auto step = plan(std::move(policies), {});
      if (failed(step))
        return failure();
      auto fitted = fitSchedule(trial, *step);
      if (failed(fitted))
        return failure();
      keepFaster(best, std::move(*fitted));
    }
  } while (!best && least.arenas != before);
  return best;
}

/// Finds the fastest way to compile with the cuts of `trial`. All ways begin
/// with the schedule without limits, which may search for `freeSeconds`.
FailureOr<std::optional<MemoryAttempt>>
MemoryFitter::solve(MemoryTrial &trial, double freeSeconds) {
  least = {};
  searchSeconds = freeSeconds;
  auto free = attempt(trial, computeNothingAgain(), {});
  if (failed(free))
    return failure();
  searchSeconds = getQuickSeconds();
  auto best = fitSchedule(trial, *free);
  if (failed(best) || !isAuto || free->fits(limits))
    return best;
  return searchChoices(trial, *free, std::move(*best));
}

/// Lets the schedule search for as long as it is allowed, and returns the
/// shorter of the result and `found`.
FailureOr<MemoryAttempt> MemoryFitter::searchLonger(MemoryTrial &trial,
                                                    MemoryAttempt found) {
  if (found.searchSeconds == wholeSeconds)
    return found;
  searchSeconds = wholeSeconds;
  auto longer = attempt(trial, found.policies, found.scheduleLimits);
  if (failed(longer))
    return failure();
  if (longer->outOfMemory)
    return found;
  std::optional<MemoryAttempt> best;
  if (longer->fits(limits)) {
    best = std::move(*longer);
  } else if (auto fitted = tighten(trial, *longer, maxLongTightenings);
             succeeded(fitted)) {
    best = std::move(*fitted);
  } else {
    return failure();
  }
  keepFaster(best, std::move(found));
  return std::move(*best);
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

/// By how much stages exceed their limits: the maximum over stages, and the
/// sum.
static std::pair<int64_t, int64_t> getExcess(llvm::ArrayRef<int64_t> least,
                                             llvm::ArrayRef<int64_t> limits) {
  int64_t worst = 0, sum = 0;
  for (auto [bytes, limit] : llvm::zip_equal(least, limits)) {
    int64_t excess = std::max<int64_t>(0, bytes - limit);
    worst = std::max(worst, excess);
    sum += excess;
  }
  return {worst, sum};
}

/// The stage that is furthest above its limit if arenas take `bytes`.
int MemoryFitter::getWorstStage(llvm::ArrayRef<int64_t> bytes) const {
  int worst = 0;
  for (int stage = 1, e = limits.size(); stage < e; ++stage)
    if (bytes[stage] - limits[stage] > bytes[worst] - limits[worst])
      worst = stage;
  return worst;
}

/// All ways to move one piece from a chunk of the stage that is furthest above
/// its limit to a neighbouring chunk on another stage.
std::vector<std::vector<int64_t>>
MemoryFitter::getMoves(llvm::ArrayRef<int64_t> pieces,
                       llvm::ArrayRef<int64_t> bytes) const {
  int64_t worst = getWorstStage(bytes), numChunks = pieces.size();
  std::vector<std::vector<int64_t>> moves;
  for (int64_t k = 0; k != numChunks; ++k) {
    if (pieces[k] == 1 ||
        pipe::getStageOf(placement, options.stages, k) != worst)
      continue;
    for (int64_t to : {k - 1, k + 1}) {
      if (to < 0 || to == numChunks ||
          pipe::getStageOf(placement, options.stages, to) == worst)
        continue;
      std::vector<int64_t> moved(pieces.begin(), pieces.end());
      --moved[k];
      ++moved[to];
      moves.push_back(std::move(moved));
    }
  }
  return moves;
}

LogicalResult MemoryFitter::moveCuts(MemoryTrial &first) {
  std::vector<int64_t> pieces = first.getPieces();
  Least best = least;
  auto excess = getExcess(best.arenas, limits);
  int budget =
      std::clamp<int64_t>(100000 / std::max<int64_t>(numOps, 1), 4, 40);
  for (bool isBetter = true; isBetter && budget > 0;) {
    isBetter = false;
    for (std::vector<int64_t> &moved : getMoves(pieces, best.arenas)) {
      if (budget-- == 0)
        break;
      MemoryTrial trial(model, options, moved);
      if (failed(trial.partition()))
        return failure();
      auto fitted = solve(trial, getQuickSeconds());
      if (failed(fitted))
        return failure();
      if (*fitted)
        return apply(trial, **fitted);
      if (least.arenas.empty() || getExcess(least.arenas, limits) >= excess)
        continue;
      isBetter = true;
      excess = getExcess(least.arenas, limits);
      pieces = moved;
      best = least;
    }
  }
  // The error describes the cuts that came closest.
  least = std::move(best);
  if (pieces == first.getPieces())
    return refuse(first);
  MemoryTrial closest(model, options, pieces);
  if (failed(closest.partition()))
    return failure();
  return refuse(closest);
}

//===----------------------------------------------------------------------===//
// The result
//===----------------------------------------------------------------------===//

/// Describes an exact number of bytes, because a limit may be exact, too. Adds
/// a larger unit for large amounts.
static std::string describeBytes(int64_t bytes) {
  std::string text = std::to_string(bytes) + " bytes";
  if (bytes >= 1 << 20)
    text += " (" + schedule::formatBytes(static_cast<double>(bytes)) + ")";
  return text;
}

bool MemoryFitter::isWide() const {
  return llvm::any_of(options.stageReplicas,
                      [](int64_t width) { return width != 1; });
}

/// "stage 1" or, if stages have several ranks, the rank of the stage that takes
/// the most.
std::string MemoryFitter::nameOfWorst(int stage) const {
  std::string name = "stage " + std::to_string(stage);
  return isWide() ? "rank " + std::to_string(least.ranks[stage]) + " (of " +
                        name + ")"
                  : name;
}

LogicalResult MemoryFitter::refuse(MemoryTrial &trial) {
  int stage = getWorstStage(least.arenas);
  int64_t needed = least.arenas[stage], always = least.lasting[stage];
  InFlightDiagnostic diagnostic = emitError(location);
  if (needed > limits[stage])
    diagnostic << nameOfWorst(stage) << " needs an arena of at least "
               << describeBytes(needed) << " with schedule '"
               << options.schedule << "', but its memory limit is "
               << describeBytes(limits[stage]);
  else
    diagnostic << "no order of schedule '" << options.schedule
               << "' meets the memory limits of all stages at once; stage "
               << stage << ", with " << describeBytes(limits[stage])
               << ", is the closest to its limit";
  diagnostic.attachNote() << describeBytes(always)
                          << " of it are parameters, their gradients and the "
                             "state of optimizer '"
                          << options.optimizer
                          << (options.errorFeedback ? "' with error feedback"
                                                    : "'")
                          << "; more stages take less of that"
                          << (isWide() ? ", more ranks of a stage do not" : "");
  if (least.betterSchedule)
    diagnostic.attachNote()
        << "another schedule may hold "
        << describeBytes(least.betterSchedule->second)
        << " of activations where this one holds "
        << describeBytes(least.betterSchedule->first) << " at least";
  diagnostic.attachNote()
      << (options.pieces.empty()
              ? "moving cuts from stage to stage did not make all of them fit"
              : "the pieces of chunks are given; where they are not, cuts are "
                "moved to meet a limit");
  if (options.offload == 0 && !options.chunkStreams && limits[stage] > always)
    diagnostic.attachNote() << "what chunks keep for their backwards may wait "
                               "in the host's memory (offload, --offload "
                               "25GB/s)";
  if (isAuto)
    return diagnostic;
  std::string help = tryAuto(trial, stage);
  if (!help.empty())
    diagnostic.attachNote() << help;
  return diagnostic;
}

/// Returns a note on what recompute 'auto' would achieve, or an empty string if
/// that is unknown.
std::string MemoryFitter::tryAuto(MemoryTrial &trial, int stage) {
  isAuto = true;
  asked.assign(asked.size(), {RecomputeKind::Auto});
  auto fitted = solve(trial, getQuickSeconds());
  if (failed(fitted) || least.arenas.empty())
    return "";
  if (*fitted)
    return "with recompute 'auto' all stages fit";
  return "with recompute 'auto' and the same cuts, stage " +
         std::to_string(stage) + " would need at least " +
         describeBytes(least.arenas[stage]);
}

LogicalResult MemoryFitter::apply(MemoryTrial &trial,
                                  const MemoryAttempt &found) {
  auto chosen = searchLonger(trial, found);
  if (failed(chosen))
    return failure();
  auto module = trial.differentiate(chosen->policies);
  if (failed(module))
    return failure();
  auto pipeline = *(*module)->getOps<pipe::PipelineOp>().begin();
  MLIRContext *context = model.getContext();
  pipeline->setAttr(pipe::memoryLimitsAttrName,
                    DenseI64ArrayAttr::get(context, limits));
  if (!chosen->scheduleLimits.empty())
    pipeline->setAttr(pipe::scheduleLimitsAttrName,
                      DenseI64ArrayAttr::get(context, chosen->scheduleLimits));
  if (chosen->searchSeconds != wholeSeconds)
    pipeline->setAttr(pipe::searchSecondsAttrName,
                      Builder(context).getF64FloatAttr(chosen->searchSeconds));
  model.getBodyRegion().takeBody((*module)->getBodyRegion());
  model->setAttrs((*module)->getOperation()->getAttrDictionary());
  return success();
}

LogicalResult MemoryFitter::readOptions() {
  auto refuse = [&](const std::string &misfit) -> LogicalResult {
    return model.emitError() << misfit;
  };
  std::string misfit =
      parseMemoryLimits(options.memoryLimits, options.stages, limits);
  if (!misfit.empty())
    return refuse("memory-limit: " + misfit);
  misfit = parseRecompute(options.recompute,
                          options.stages * options.chunksPerStage, asked);
  if (!misfit.empty())
    return refuse("recompute: " + misfit);
  for (const Recompute &policy : asked)
    isAuto |= policy.kind == RecomputeKind::Auto;
  return success();
}

LogicalResult MemoryFitter::run() {
  FailureOr<func::FuncOp> entry = pipe::findModel(model, options.entry);
  if (failed(entry))
    return failure();
  location = entry->getLoc();
  numOps = std::distance(entry->getOps().begin(), entry->getOps().end());
  MemoryTrial trial(model, options, options.pieces);
  if (failed(readOptions()) || failed(trial.partition()))
    return failure();
  placement = trial.getPlacement();
  // Later passes repeat the warnings.
  ScopedDiagnosticHandler quiet(model.getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() != DiagnosticSeverity::Error);
  });
  auto fitted = solve(trial, wholeSeconds);
  if (failed(fitted))
    return failure();
  if (*fitted)
    return apply(trial, **fitted);
  return options.pieces.empty() ? moveCuts(trial) : refuse(trial);
}

namespace {

struct FitMemory : veeline::impl::PipeFitMemoryBase<FitMemory> {
  using PipeFitMemoryBase::PipeFitMemoryBase;

  FitMemory(const PipeFitMemoryOptions &given, const CompileOptions &options)
      : PipeFitMemoryBase(given), unlisted(options) {}

  /// Adds the dialects of all passes that trials run.
  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager phases(ModuleOp::getOperationName());
    CompileOptions plain;
    buildProgramPipeline(phases, plain);
    buildMemoryPipeline(phases, plain);
    phases.getDependentDialects(registry);
  }

  CompileOptions getCompileOptions() const {
    CompileOptions result = unlisted;
    result.entry = entry;
    result.stages = stages;
    result.chunksPerStage = chunksPerStage;
    result.microbatches = microbatches;
    result.replicas = replicas;
    result.stageReplicas.assign(stageReplicas.begin(), stageReplicas.end());
    result.clipSync = clipSync;
    result.communication = communication;
    result.rules = rules;
    result.schedule = schedule;
    result.objective = objective;
    result.placement = placement;
    result.pieces.assign(pieces.begin(), pieces.end());
    result.profile = profile;
    result.machineTable = machineTable;
    result.machineCores = machineCores;
    result.optimizer = optimizer;
    result.errorFeedback = errorFeedback;
    result.shardOptimizer = shardOptimizer;
    result.ncclSums = ncclSums;
    result.target = target;
    result.chunkStreams = chunkStreams;
    result.offload = offload;
    result.recomputeAhead = recomputeAhead;
    result.recompute.assign(recompute.begin(), recompute.end());
    result.memoryLimits.assign(memoryLimits.begin(), memoryLimits.end());
    return result;
  }

  void runOnOperation() override {
    CompileOptions options = getCompileOptions();
    if (options.forwardOnly) {
      getOperation().emitError(
          "memory-limit is about training, for which schedules and what is "
          "kept are chosen, and forward-only runs forwards alone; leave one of "
          "them out");
      return signalPassFailure();
    }
    if (failed(MemoryFitter(getOperation(), options).run()))
      signalPassFailure();
  }

  /// The compile options that are not options of this pass.
  CompileOptions unlisted;
};

} // namespace

std::unique_ptr<Pass>
veeline::createFitMemoryPass(const CompileOptions &options) {
  PipeFitMemoryOptions given;
  given.memoryLimits = llvm::to_vector(options.memoryLimits);
  given.recompute = llvm::to_vector(options.recompute);
  given.entry = options.entry;
  given.stages = options.stages;
  given.chunksPerStage = options.chunksPerStage;
  given.microbatches = options.microbatches;
  given.replicas = options.replicas;
  given.communication = options.communication;
  given.rules = options.getRules();
  given.schedule = options.schedule;
  given.objective = options.objective;
  given.placement = options.placement;
  given.pieces = llvm::to_vector(options.pieces);
  given.profile = options.profile;
  given.machineTable = options.machineTable;
  given.machineCores = options.machineCores;
  given.optimizer = options.optimizer;
  given.errorFeedback = options.errorFeedback;
  given.shardOptimizer = options.shardOptimizer;
  given.ncclSums = options.ncclSums;
  given.target = options.target;
  given.chunkStreams = options.chunkStreams;
  given.offload = options.offload;
  given.recomputeAhead = options.recomputeAhead;
  given.stageReplicas = llvm::to_vector(options.stageReplicas);
  given.clipSync = options.clipSync;
  return std::make_unique<FitMemory>(given, options);
}
