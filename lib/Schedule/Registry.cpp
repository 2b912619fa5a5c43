//===- Registry.cpp - the schedules by name -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generators/Generators.h"
#include "veeline/Base/Suggest.h"
#include "veeline/Schedule/Bounds.h"
#include "veeline/Schedule/Limits.h"
#include "veeline/Schedule/Loop.h"
#include "veeline/Schedule/Memory.h"
#include "veeline/Schedule/Offload.h"
#include "veeline/Schedule/Recompute.h"
#include "veeline/Schedule/Widths.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::schedule;

static constexpr Generator table[] = {
    {.name = "sequential",
     .paper = "none (the reference)",
     .summary = "one microbatch at a time",
     .placement = PlacementKind::Interleaved,
     .maxChunksPerStage = 0,
     .anyPlacement = true,
     .generate = generateSequential},
    {.name = "gpipe",
     .paper = "Huang et al. 2019, arXiv:1811.06965",
     .summary = "all forwards, then all backwards",
     .generate = generateGPipe},
    {.name = "1f1b",
     .paper = "Narayanan et al. 2021, arXiv:2006.09503",
     .summary = "one forward, one backward; PipeDream-flush",
     .generate = generateOneForwardOneBackward},
    {.name = "eager-1f1b",
     .paper = "Zhuang et al. 2022, arXiv:2211.05322",
     .summary = "1F1B with more forwards ahead, to hide transfers",
     .generate = generateEagerOneForwardOneBackward},
    {.name = "interleaved-1f1b",
     .paper = "Narayanan et al. 2021, arXiv:2104.04473",
     .summary = "1F1B over several chunks a stage; VPP",
     .placement = PlacementKind::Interleaved,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 0,
     .generate = generateInterleavedOneForwardOneBackward},
    {.name = "interleaved-1f1b-remainder",
     .paper = "Narayanan et al. 2021, arXiv:2104.04473",
     .summary = "VPP with a short last group, where that runs",
     .placement = PlacementKind::Interleaved,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 0,
     .generate = generateInterleavedRemainder},
    {.name = "looped-bfs",
     .paper = "Lamy-Poirier 2022, arXiv:2211.05953",
     .summary = "all microbatches through one chunk after the other",
     .placement = PlacementKind::Interleaved,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 0,
     .generate = generateLoopedBreadthFirst},
    {.name = "hanayo",
     .paper = "Liu et al. 2023, arXiv:2308.15762",
     .summary = "1F1B over chunks on a wave",
     .placement = PlacementKind::Wave,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 0,
     .hasObjective = true,
     .generate = generateHanayo},
    {.name = "zb-h1",
     .paper = "Qi et al. 2023, arXiv:2401.10241",
     .summary = "1F1B with split backward, in its memory",
     .splitsBackward = true,
     .generate = generateZeroBubbleH1},
    {.name = "zb-h2",
     .paper = "Qi et al. 2023, arXiv:2401.10241",
     .summary = "no bubble with equal F, B and W, in twice 1F1B's memory",
     .splitsBackward = true,
     .generate = generateZeroBubbleH2},
    {.name = "zb-1p",
     .paper = "Qi et al. 2024, arXiv:2401.10241",
     .summary = "zero bubble with one chunk in p activations",
     .splitsBackward = true,
     .hasObjective = true,
     .generate = generateZeroBubble1P},
    {.name = "zb-2p",
     .paper = "Qi et al. 2024, arXiv:2401.10241",
     .summary = "zero bubble with one chunk in 2p activations",
     .splitsBackward = true,
     .hasObjective = true,
     .generate = generateZeroBubble2P},
    {.name = "interleaved-zb",
     .paper = "Narayanan et al. 2021 with Qi et al. 2024, arXiv:2401.10241",
     .summary = "interleaved with split backward",
     .placement = PlacementKind::Interleaved,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 0,
     .splitsBackward = true,
     .hasObjective = true,
     .generate = generateInterleavedZeroBubble},
    {.name = "zb-v-reference",
     .paper = "Qi et al. 2024, arXiv:2401.10241",
     .summary = "zero bubble on a V as published, from mean costs",
     .placement = PlacementKind::V,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 2,
     .splitsBackward = true,
     .generate = generateZeroBubbleVReference},
    {.name = "zb-v",
     .paper = "Qi et al. 2024, arXiv:2401.10241 and arXiv:2405.15362",
     .summary = "zero bubble on a V: W fills what F and B leave",
     .placement = PlacementKind::V,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 2,
     .splitsBackward = true,
     .hasObjective = true,
     .generate = generateZeroBubbleV},
    {.name = "zb-wave",
     .paper = "Qi et al. 2024 with Liu et al. 2023, arXiv:2308.15762",
     .summary = "zero bubble on a wave of 2, 3, 4... chunks",
     .placement = PlacementKind::Wave,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 0,
     .splitsBackward = true,
     .hasObjective = true,
     .generate = generateZeroBubbleWave},
    {.name = "zb-loop",
     .paper = "none (ours)",
     .summary = "zero bubble in steps that follow each other",
     .placement = PlacementKind::Wave,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 0,
     .anyPlacement = true,
     .splitsBackward = true,
     .searches = true,
     .slips = true,
     .generate = generateZeroBubbleLoop},
    {.name = "v-half",
     .paper = "Qi et al. 2024, arXiv:2405.15362",
     .summary = "half of 1F1B's activations, on a V",
     .placement = PlacementKind::V,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 2,
     .splitsBackward = true,
     .hasObjective = true,
     .generate = generateVHalf},
    {.name = "v-min",
     .paper = "Qi et al. 2024, arXiv:2405.15362",
     .summary = "a third of 1F1B's activations, on a V",
     .placement = PlacementKind::V,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 2,
     .splitsBackward = true,
     .hasObjective = true,
     .generate = generateVMin},
    {.name = "dualpipe-v",
     .paper = "DeepSeek-AI 2024, arXiv:2412.19437",
     .summary = "DualPipe cut in half: forwards paired with backwards on a V",
     .placement = PlacementKind::V,
     .minChunksPerStage = 2,
     .maxChunksPerStage = 2,
     .splitsBackward = true,
     .pairsBlocks = true,
     .generate = generateDualPipeV},
    {.name = "pipedream",
     .paper = "Narayanan et al. 2019, arXiv:1806.03377",
     .summary = "1F1B without a flush, with stashed weights",
     .semantics = UpdateSemantics::WeightStashing,
     .generate = generatePipeDream},
    {.name = "pipedream-2bw",
     .paper = "Narayanan et al. 2021, arXiv:2006.09503",
     .summary = "1F1B without a flush, with two versions of the weights",
     .semantics = UpdateSemantics::DoubleBuffered,
     .generate = generatePipeDreamDoubleBuffered},
    {.name = "auto",
     .paper = "none (ours)",
     .summary = "the best of all others and of a search",
     .placement = PlacementKind::Wave,
     .maxChunksPerStage = 0,
     .anyPlacement = true,
     .splitsBackward = true,
     .hasObjective = true,
     .pairsBlocks = true,
     .searches = true,
     .generate = generateAuto},
};

std::span<const Generator> veeline::schedule::generators() { return table; }

std::vector<std::string> veeline::schedule::scheduleNames() {
  std::vector<std::string> names;
  for (const Generator &generator : generators())
    names.emplace_back(generator.name);
  return names;
}

static Error unknownSchedule(std::string_view name) {
  std::vector<std::string> names = scheduleNames();
  // All names are in lower case.
  std::string small(name);
  for (char &c : small)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  std::string near = nearest(small, names);
  return Error{ErrorKind::UnknownSchedule,
               "unknown schedule '" + std::string(name) + "'; " +
                   (near.empty()
                        ? "known schedules are "
                        : "did you mean '" + near + "'? Known schedules are ") +
                   joinNames(names)};
}

Expected<const Generator *>
veeline::schedule::findGenerator(std::string_view name) {
  for (const Generator &generator : table)
    if (generator.name == name)
      return &generator;
  return unknownSchedule(name);
}

static Status checkChunksPerStage(const Generator &generator, int v) {
  int least = generator.minChunksPerStage, most = generator.maxChunksPerStage;
  if (v >= least && (most == 0 || v <= most))
    return Status::success();
  std::string range = std::to_string(least);
  if (most == 0)
    range += " or more";
  else if (most != least)
    range += " to " + std::to_string(most);
  return Error{ErrorKind::NotApplicable,
               "schedule " + std::string(generator.name) + " takes " + range +
                   (least == 1 && most == 1 ? " chunk" : " chunks") +
                   " per stage, not " + std::to_string(v)};
}

Expected<Placement> veeline::schedule::placementFor(std::string_view name,
                                                    int stages,
                                                    int chunksPerStage) {
  Expected<const Generator *> generator = findGenerator(name);
  if (!generator)
    return generator.takeError();
  if (Status status = checkChunksPerStage(**generator, chunksPerStage); !status)
    return status.takeError();
  // With one chunk a stage, interleaved is linear, and the simpler name is
  // better. The same holds for a wave of one or two chunks, if the schedule
  // supports any placement.
  PlacementKind kind = (*generator)->placement;
  bool any = (*generator)->anyPlacement;
  if (chunksPerStage == 1 && (kind == PlacementKind::Interleaved || any))
    kind = PlacementKind::Linear;
  if (chunksPerStage == 2 && kind == PlacementKind::Wave && any)
    kind = PlacementKind::V;
  return Placement::get(kind, stages, chunksPerStage);
}

/// Checks that the generator supports the placement of the problem.
static Status checkPlacement(const Generator &generator,
                             const Placement &placement) {
  if (Status status =
          checkChunksPerStage(generator, placement.chunksPerStage());
      !status)
    return status;
  if (generator.anyPlacement)
    return Status::success();
  Expected<Placement> wanted = Placement::get(
      generator.placement, placement.stages(), placement.chunksPerStage());
  if (!wanted)
    return wanted.takeError();
  for (int chunk = 0; chunk < placement.chunks(); ++chunk)
    if (placement.stageOf(chunk) != wanted->stageOf(chunk))
      return Error{ErrorKind::NotApplicable,
                   "schedule " + std::string(generator.name) +
                       " is made for placement " +
                       toString(generator.placement) + ", where chunk " +
                       std::to_string(chunk) + " is on stage " +
                       std::to_string(wanted->stageOf(chunk)) +
                       "; here it is on stage " +
                       std::to_string(placement.stageOf(chunk))};
  return Status::success();
}

/// The schedules that obey every possible limit, as far as they are defined for
/// the placement.
static std::string followersOfLimits(const Placement &placement) {
  std::string names;
  for (std::string_view name : {"zb-v", "auto"})
    if (Expected<const Generator *> generator = findGenerator(name);
        generator && checkPlacement(**generator, placement))
      names += (names.empty() ? "" : ", ") + std::string(name);
  return names;
}

Error veeline::schedule::withLeastOfAny(const Problem &problem, Error error) {
  if (error.kind != ErrorKind::OutOfMemory || !error.stage)
    return error;
  // What other schedules need depends on what they offload.
  if (canOffload(problem))
    return error;
  std::int64_t least = leastLimit(problem, *error.stage).limit;
  error.leastOfAnySchedule = least;
  if (error.leastLimit && *error.leastLimit <= least) {
    // An error without a step is about all orders of the schedule, and already
    // says so.
    error.message += error.step ? "; no schedule needs less" : "";
    return error;
  }
  // The limit of this stage or of another one may be too low for any schedule.
  if (Status status = checkLimits(problem); !status)
    error.message += "; no schedule helps: " + status.error().message;
  else
    error.message += "; a schedule that follows costs and limits (" +
                     followersOfLimits(problem.placement) +
                     ") can go down to " + formatMemory(problem, least);
  return error;
}

static bool hasSeveralRanks(const Problem &problem) {
  return std::any_of(problem.widths.begin(), problem.widths.end(),
                     [](int width) { return width > 1; });
}

static Expected<Schedule> generateFor(const Generator &generator,
                                      const Problem &problem,
                                      const GeneratorOptions &options) {
  if (problem.widths.empty())
    return generator.generate(problem, options);
  if (generator.slips)
    return Error{ErrorKind::NotApplicable, "schedule " +
                                               std::string(generator.name) +
                                               " is for stages of one rank"};
  return generateForWidths(generator.name, problem, options);
}

Expected<ScheduleByPeriod>
veeline::schedule::generateByPeriod(const Generator &generator,
                                    const Problem &problem,
                                    const GeneratorOptions &options) {
  std::optional<ScheduleByPeriod> best;
  double bound = lowerPeriodBound(problem).period.time;
  GeneratorOptions other = options;
  other.searchSeconds /= 2;
  for (Objective objective : {Objective::Span, Objective::Makespan}) {
    other.objective = objective;
    Expected<Schedule> schedule = generateFor(generator, problem, other);
    if (!schedule)
      return schedule.takeError();
    Expected<Loop> loop = loopOf(problem, *schedule);
    if (!loop)
      return loop.takeError();
    if (!best || loop->period < best->period)
      best = {std::move(*schedule), loop->period};
    // If there is little left to gain, the other objective is not worth its
    // time.
    if (!generator.hasObjective || best->period <= 1.01 * bound)
      break;
  }
  return std::move(*best);
}

static Expected<Schedule> generateBy(const Generator &generator,
                                     const Problem &problem,
                                     const GeneratorOptions &options) {
  bool isPeriod = options.objective == Objective::Period;
  bool isNarrow = !problem.widths.empty() && !hasSeveralRanks(problem);
  if (isNarrow && (isPeriod || generator.slips)) {
    Problem narrow = problem;
    narrow.widths.clear();
    return generateBy(generator, narrow, options);
  }
  bool knowsPeriods =
      generator.slips || (generator.searches && problem.widths.empty());
  if (!isPeriod || knowsPeriods)
    return generateFor(generator, problem, options);
  Expected<ScheduleByPeriod> best =
      generateByPeriod(generator, problem, options);
  if (!best)
    return best.takeError();
  return std::move(best->schedule);
}

Expected<Schedule>
veeline::schedule::generateInLimits(std::string_view name,
                                    const Problem &problem,
                                    const GeneratorOptions &options) {
  Expected<const Generator *> generator = findGenerator(name);
  if (!generator)
    return generator.takeError();
  Expected<Schedule> schedule = generateBy(**generator, problem, options);
  if (!schedule)
    return schedule;
  if (Status status = verify(problem, *schedule); !status)
    return status.takeError();
  return schedule;
}

Expected<Schedule>
veeline::schedule::generate(std::string_view name, const Problem &problem,
                            const GeneratorOptions &options) {
  Expected<const Generator *> generator = findGenerator(name);
  if (!generator)
    return generator.takeError();
  if (Status status = check(problem); !status)
    return status.takeError();
  if (Status status = checkPlacement(**generator, problem.placement); !status)
    return status.takeError();
  if (options.offload)
    return generateWithOffloads(name, problem, options);
  Expected<Schedule> schedule =
      hasRecompute(problem) ? generateWithRecompute(name, problem, options)
                            : generateInLimits(name, problem, options);
  if (!schedule)
    return withLeastOfAny(problem, schedule.takeError());
  return schedule;
}
