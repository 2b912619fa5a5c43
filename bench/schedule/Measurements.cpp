//===- Measurements.cpp - targets, times and the sweep --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Runs.h"
#include "Tables.h"
#include "veeline/Base/Median.h"
#include "veeline/Schedule/Simulator.h"

#include <algorithm>
#include <cstdio>
#include <random>
#include <sys/resource.h>

using namespace veeline;
using namespace veeline::bench;
using namespace veeline::schedule;

namespace {
struct Target {
  Case shape;
  double limit;
  Objective objective;
  double bubble;
};
} // namespace

static constexpr Objective byMakespan = Objective::Makespan;
static constexpr Objective bySpan = Objective::Span;

void veeline::bench::printTargets(const Settings &settings) {
  const Target targets[] = {
      {{8, 8, 14859, 14722, 9964, 527}, 8, byMakespan, 0.1598},
      {{4, 4, 1000, 1000, 1000, 1}, 4, byMakespan, 0.1114},
      {{4, 8, 9261, 9043, 4669, 601}, 4, byMakespan, 0.0834},
      {{8, 16, 1000, 2000, 1000, 50}, 8, bySpan, 0.0864},
      {{8, 16, 1000, 1000, 1000, 1}, 7, bySpan, 0.0499},
      {{8, 16, 1000, 1000, 1000, 1}, 6, bySpan, 0.1032},
      {{8, 16, 1000, 1000, 1000, 1}, 5, bySpan, 0.1508},
      {{8, 16, 1000, 1000, 1000, 1}, 4, bySpan, 0.1938},
      {{8, 16, 1000, 1000, 1000, 1}, 3, bySpan, 1},
      {{8, 16, 1000, 1000, 1000, 1}, 2, bySpan, 1},
      {{8, 16, 1000, 1000, 1000, 1}, 1, bySpan, 1},
  };
  std::printf("## auto on a V\n\n| case | activations | objective | target | "
              "zb-v | auto | seconds |\n|---|---|---|---|---|---|---|\n");
  for (const Target &target : targets) {
    Problem problem =
        problemOf(target.shape, PlacementKind::V, 2, target.limit);
    bool span = target.objective == bySpan;
    auto bubble = [&](const Outcome &outcome) {
      return span ? outcome.bubbleSpan : outcome.bubbleMakespan;
    };
    Outcome ours =
        runOne("auto", problem, {target.objective, false, settings.seconds});
    Outcome zbv = runOne("zb-v", problem, {target.objective});
    std::printf(
        "| %s | %g | %s | %.4f | %.4f | %.4f%s | %.2f |\n",
        target.shape.name().c_str(), target.limit, span ? "span" : "makespan",
        target.bubble, bubble(zbv), bubble(ours),
        bubble(ours) < target.bubble + 0.00005 ? "" : " (above)", ours.seconds);
    std::fflush(stdout);
  }
  std::printf("\n");
}

/// The median of five.
template <typename Function> static double medianSeconds(Function function) {
  std::vector<double> times;
  for (int i = 0; i < 5; ++i) {
    double begin = clockSeconds();
    function();
    times.push_back(clockSeconds() - begin);
  }
  return medianOf(std::move(times));
}

static void printTimesOf(const char *name, int p, int m) {
  if (!findGenerator(name))
    return;
  Case shape{p, m, 1, 1, 1, 0};
  Problem problem = problemOf(shape, PlacementKind::V, 2, p);
  Expected<Schedule> schedule = generate(name, problem);
  if (!schedule)
    return;
  double checked = medianSeconds([&] { (void)generate(name, problem); });
  double verified = medianSeconds([&] { (void)verify(problem, *schedule); });
  double simulated = medianSeconds([&] { (void)simulate(problem, *schedule); });
  double generated = checked - verified, operations = 6.0 * p * m;
  std::printf("| %s | %d | %d | %.0f | %.2f | %.1f | %.2f | %.2f |\n", name, p,
              m, operations, generated * 1e3, generated / operations * 1e9,
              verified * 1e3, simulated * 1e3);
  std::fflush(stdout);
}

void veeline::bench::printTimes(const Settings &) {
  std::printf("## times\n\n| schedule | p | m | operations | generate, ms | "
              "ns an operation | verify, ms | simulate, ms |\n"
              "|---|---|---|---|---|---|---|---|\n");
  for (const char *name : {"zb-v", "v-half", "v-min"}) {
    for (int p = 8; p <= 512; p *= 2)
      printTimesOf(name, p, 4 * p > 512 ? 512 : 4 * p);
  }
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  std::printf("\npeak memory of the process: %.0f MiB\n\n",
              usage.ru_maxrss / 1024.0);
}

using Random = std::mt19937_64;

static int below(Random &random, int bound) {
  return static_cast<int>(random() % bound);
}

/// Costs per chunk, chain and skip edges, memory and limits at random.
static Problem randomProblem(Random &random, const Generator &generator) {
  int p = 1 + below(random, 16), m = 1 + below(random, 64);
  int most = generator.maxChunksPerStage ? generator.maxChunksPerStage : 4;
  int least = generator.minChunksPerStage;
  int v = least + below(random, std::max(1, std::min(4, most) - least + 1));
  Expected<Placement> placement = placementFor(generator.name, p, v);
  Problem problem{std::move(*placement), m, {}, {}};
  auto time = [&] { return below(random, 8) * (1 + below(random, 3)) / 2.0; };
  for (int k = 0; k < problem.numChunks(); ++k) {
    Chunk chunk;
    chunk.forward = time();
    chunk.backwardInput = time();
    chunk.backwardWeight = time();
    chunk.forwardMemory = below(random, 7);
    chunk.backwardInputMemory =
        below(random, 3) - std::min<int>(2, chunk.forwardMemory);
    chunk.backwardWeightMemory =
        -chunk.forwardMemory - chunk.backwardInputMemory;
    problem.chunks.push_back(chunk);
    if (k > 0)
      problem.edges.push_back({k - 1, k, time() / 4, time() / 4});
    if (k > 2 && below(random, 8) == 0)
      problem.edges.push_back({below(random, k - 1), k, time() / 4, 0});
  }
  bool skips = std::any_of(problem.edges.begin(), problem.edges.end(),
                           [](const Edge &edge) { return edge.to == 0; });
  if (!skips && below(random, 2) == 0)
    problem.chunks[0] = problem.chunks[0].withoutBackwardInput();
  if (below(random, 3) > 0)
    for (int stage = 0; stage < p; ++stage)
      problem.memoryLimits.push_back(below(random, 14 * v * (p + 1)));
  return problem;
}

void veeline::bench::printSweep(const Settings &settings) {
  std::span<const Generator> all = generators();
  struct Count {
    int valid = 0, outOfMemory = 0, notApplicable = 0, wrong = 0;
  };
  // 1: valid, 2: out of memory, 3: not applicable, 4: anything else.
  std::vector<char> outcome(settings.problems);
  forEach(settings.jobs, settings.problems, [&](std::size_t i) {
    Random random(i);
    const Generator &generator = all[i % all.size()];
    Problem problem = randomProblem(random, generator);
    GeneratorOptions options;
    options.searchSeconds = 0.002;
    options.objective = random() % 2 ? byMakespan : bySpan;
    Expected<Schedule> schedule = generate(generator.name, problem, options);
    if (schedule)
      outcome[i] = verify(problem, *schedule) ? 1 : 4;
    else if (schedule.error().kind == ErrorKind::OutOfMemory)
      outcome[i] = schedule.error().leastLimit ? 2 : 4;
    else
      outcome[i] = schedule.error().kind == ErrorKind::NotApplicable ? 3 : 4;
  });
  std::vector<Count> counts(all.size());
  for (int i = 0; i < settings.problems; ++i) {
    Count &count = counts[i % all.size()];
    int *slots[] = {&count.valid, &count.outOfMemory, &count.notApplicable,
                    &count.wrong};
    ++*slots[outcome[i] - 1];
  }
  std::printf("## sweep over %d random problems, p 1..16, m 1..64, v 1..4\n\n"
              "| schedule | valid | refused for memory | not applicable | "
              "wrong |\n|---|---|---|---|---|\n",
              settings.problems);
  for (std::size_t i = 0; i < all.size(); ++i)
    std::printf("| %s | %d | %d | %d | %d |\n",
                std::string(all[i].name).c_str(), counts[i].valid,
                counts[i].outOfMemory, counts[i].notApplicable,
                counts[i].wrong);
  std::printf("\n");
}
