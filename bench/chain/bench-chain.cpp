//===- bench-chain.cpp - steps that follow one another, measured ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs schedules on the host's runtime with operations that sleep for as long
// as they are said to take, so that a few cores are enough for many ranks. The
// time of a step is compared with the simulator's: of steps that follow one
// another with the period, of steps that wait for each other with the makespan.
//
//===----------------------------------------------------------------------===//

#include "HostExecutor.h"
#include "veeline/Schedule/Generators.h"
#include "veeline/Schedule/Loop.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <sys/prctl.h>
#include <time.h>

using namespace veeline;
namespace sched = veeline::schedule;

namespace {
struct Case {
  const char *schedule;
  sched::Objective objective;
  int stages, microbatches;
  /// Of each chunk, in microseconds.
  double forward, backwardInput, backwardWeight;
};

/// An operation: what it waits for, how long it sleeps, what it sends.
struct Work {
  std::vector<int32_t> receives;
  int64_t nanoseconds;
  std::vector<int32_t> sends;
  bool late; ///< It is of the step before.
};

/// What a rank does in a step. All receives are posted when it begins.
struct RankScript {
  std::vector<int32_t> posts;
  std::vector<Work> work;
  size_t numLate = 0; ///< Of `work`.
};
} // namespace

/// By rank. Global, since steps are plain functions.
static std::vector<RankScript> scripts;
/// Whether a message is computed straight into the receiver's memory: then its
/// place is acquired before the operation, else after it.
static bool isDirect;

static void fail(const std::string &text) {
  std::fprintf(stderr, "bench-chain: error: %s\n", text.c_str());
  std::exit(1);
}

template <typename T> static T valueOf(sched::Expected<T> expected) {
  if (!expected)
    fail(expected.error().str());
  return std::move(*expected);
}

static void sleepUntil(int64_t time) {
  timespec until = {time / 1'000'000'000, time % 1'000'000'000};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr))
    continue;
}

/// Runs what is late, what is not, or both.
static void runScript(veeline_rank *rank, char *arena, bool late, bool inTime) {
  // Sleeps end within a microsecond, and not within 50.
  ::prctl(PR_SET_TIMERSLACK, 1);
  const RankScript &script = scripts[static_cast<size_t>(rank->index)];
  for (size_t i = 0; inTime && i < script.posts.size(); ++i)
    veeline_recv_post(rank, script.posts[i], arena + 64 * i);
  size_t numLate = script.numLate;
  for (const Work &work : script.work) {
    if (work.late ? !late : !inTime)
      continue;
    if (work.late) {
      veeline_late_begin(rank);
      sleepUntil(nanoseconds() + work.nanoseconds);
      veeline_late_end(rank, --numLate == 0);
      continue;
    }
    for (int32_t channel : work.receives)
      veeline_recv_wait(rank, channel);
    if (isDirect)
      for (int32_t channel : work.sends)
        veeline_send_acquire(rank, channel);
    sleepUntil(nanoseconds() + work.nanoseconds);
    for (int32_t channel : work.sends) {
      if (!isDirect)
        veeline_send_acquire(rank, channel);
      veeline_send_commit(rank, channel);
    }
  }
}

static void sleepingStep(veeline_rank *rank, char *arena, const void *const *) {
  runScript(rank, arena, /*late=*/true, /*inTime=*/true);
}
static void firstStep(veeline_rank *rank, char *arena, const void *const *) {
  runScript(rank, arena, /*late=*/false, /*inTime=*/true);
}
static void lateAlone(veeline_rank *rank, char *arena, const void *const *) {
  runScript(rank, arena, /*late=*/true, /*inTime=*/false);
}

static double costOf(const sched::Chunk &chunk, sched::OpKind kind) {
  switch (kind) {
  case sched::OpKind::Forward:
    return chunk.forward;
  case sched::OpKind::BackwardInput:
    return chunk.backwardInput;
  case sched::OpKind::BackwardWeight:
    return chunk.backwardWeight;
  case sched::OpKind::Backward:
    return chunk.backwardInput + chunk.backwardWeight;
  case sched::OpKind::Recompute:
    return chunk.recompute;
  }
  return 0;
}

/// Sets `scripts`, and returns an artifact with their channels.
static artifact::Artifact makeArtifact(const sched::Problem &problem,
                                       const sched::Schedule &order) {
  artifact::Artifact artifact;
  artifact.metadata.results = {{"loss", artifact::DataType::f32}};
  artifact.objects = {""};
  artifact::Program &program = artifact.metadata.programs.emplace_back();
  program.name = "bench";
  program.stages = problem.stages();
  program.ranks.resize(order.stages.size());
  scripts.assign(order.stages.size(), {});
  for (size_t rank = 0; rank < order.stages.size(); ++rank)
    for (const sched::Op &op : order.stages[rank]) {
      scripts[rank].work.push_back(
          {{},
           static_cast<int64_t>(
               1000 *
               costOf(problem.chunks[static_cast<size_t>(op.chunk)], op.kind)),
           {},
           op.late});
      scripts[rank].numLate += op.late;
    }
  std::map<std::pair<int, bool>, int32_t> channels;
  for (const sched::Message &message :
       valueOf(sched::communicationOrder(problem, order))) {
    auto [found, isNew] =
        channels.try_emplace({message.edge, message.gradient},
                             static_cast<int32_t>(program.channels.size()));
    int32_t channel = found->second;
    if (isNew)
      program.channels.push_back(
          {message.gradient ? artifact::ChannelKind::gradient
                            : artifact::ChannelKind::activation,
           message.edge, message.sourceStage, message.targetStage, 64, 0});
    ++program.channels[static_cast<size_t>(channel)].messagesPerStep;
    RankScript &source = scripts[static_cast<size_t>(message.sourceStage)];
    source.work[static_cast<size_t>(message.sourceStep)].sends.push_back(
        channel);
    RankScript &target = scripts[static_cast<size_t>(message.targetStage)];
    target.work[static_cast<size_t>(message.targetStep)].receives.push_back(
        channel);
    target.posts.push_back(channel);
  }
  for (size_t rank = 0; rank < program.ranks.size(); ++rank) {
    program.ranks[rank].stepSymbol = "step";
    if (scripts[rank].numLate > 0)
      program.ranks[rank].lateSymbol = "late";
    program.ranks[rank].arenaBytes =
        64 * (1 + static_cast<int64_t>(scripts[rank].posts.size()));
  }
  return artifact;
}

/// Milliseconds from the end of one step to that of the next, at best over
/// several tries: other programs only make steps longer.
static double measure(const artifact::Artifact &artifact, int32_t inFlight) {
  constexpr int numTries = 2, numWarm = 2, numSteps = 6;
  host::HostOptions options;
  options.stepsInFlight = inFlight;
  options.steps.assign(scripts.size(), sleepingStep);
  for (const RankScript &script : scripts)
    options.lateFunctions.push_back(
        script.numLate > 0 ? engine::LateFunctions{firstStep, lateAlone}
                           : engine::LateFunctions());
  auto executor = host::HostExecutor::create(
      artifact, artifact.metadata.programs[0], options);
  if (!executor.ok())
    fail(executor.status().message());
  StepResult result;
  double best = 0;
  for (int i = 0; i < numTries; ++i) {
    int begun = 0;
    int64_t begin = 0;
    for (int step = 0; step < numWarm + numSteps; ++step) {
      for (; begun < std::min(numWarm + numSteps, step + inFlight); ++begun)
        if (Status status = (*executor)->begin(nullptr, {}); !status.ok())
          fail(status.message());
      if (Status status = (*executor)->finish(result); !status.ok())
        fail(status.message());
      if (step + 1 == numWarm)
        begin = nanoseconds();
    }
    double each = double(nanoseconds() - begin) / 1e6 / numSteps;
    best = i == 0 ? each : std::min(best, each);
  }
  return best;
}

static void run(const Case &shape) {
  bool isOfOneChunk = std::string_view(shape.schedule) == "1f1b";
  int chunks = isOfOneChunk ? 1 : 2;
  sched::Chunk chunk;
  chunk.forward = shape.forward;
  chunk.backwardInput = shape.backwardInput;
  chunk.backwardWeight = shape.backwardWeight;
  chunk.forwardMemory = sched::activationUnit / chunks;
  chunk.backwardWeightMemory = -chunk.forwardMemory;
  sched::Problem problem = sched::uniformProblem(
      valueOf(sched::placementFor(shape.schedule, shape.stages, chunks)),
      shape.microbatches, chunk, /*transfer=*/0);
  problem.memoryLimits.assign(static_cast<size_t>(shape.stages),
                              shape.stages * sched::activationUnit);
  sched::GeneratorOptions options;
  options.objective = shape.objective;
  sched::Schedule order =
      valueOf(sched::generate(shape.schedule, problem, options));
  sched::Simulation simulation = valueOf(sched::simulate(problem, order));
  artifact::Artifact artifact = makeArtifact(problem, order);
  std::printf("| %s | %s | %d | %d |", shape.schedule,
              sched::toString(shape.objective), shape.stages,
              shape.microbatches);
  for (bool direct : {false, true}) {
    isDirect = direct;
    double waiting = measure(artifact, 1), following = measure(artifact, 2);
    std::printf(" %.1f (%.3f) | %.1f (%.3f) |", waiting,
                waiting / (simulation.makespan / 1e3), following,
                following / (simulation.period / 1e3));
  }
  std::printf("\n");
  std::fflush(stdout);
}

/// The unit of time in microseconds, then numbers of stages.
int main(int argc, char **argv) {
  using sched::Objective;
  double unit = argc > 1 ? std::strtod(argv[1], nullptr) : 0;
  if (unit <= 0 || argc < 3)
    fail("takes the microseconds of an operation and numbers of stages");
  std::printf("| schedule | objective | p | m | sent: waiting | following | "
              "computed at the receiver: waiting | following |\n"
              "|---|---|---|---|---|---|---|---|\n");
  for (int i = 2; i < argc; ++i) {
    int stages = static_cast<int>(std::strtol(argv[i], nullptr, 10));
    if (stages < 2)
      fail("a pipeline has at least 2 stages");
    for (int microbatches : {stages, 3 * stages}) {
      run({"1f1b", Objective::Makespan, stages, microbatches, unit, unit,
           unit});
      for (Objective objective : {Objective::Makespan, Objective::Period})
        run({"zb-v", objective, stages, microbatches, unit, unit, unit});
      run({"zb-loop", Objective::Period, stages, microbatches, unit, unit,
           unit});
    }
  }
}
