//===- RandomSchedules.cpp - any problem, any order -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomSchedules.h"

#include <algorithm>

using namespace veeline::schedule;

static bool chance(Random &random, int oneIn) {
  return randomInt(random, 1, oneIn) == 1;
}

/// Small integers, so that events coincide, or any numbers.
static double randomTime(Random &random, bool integral) {
  if (integral)
    return randomInt(random, 0, 4);
  return randomInt(random, 1, 3000) / 997.0;
}

static Chunk randomChunk(Random &random, bool integral) {
  Chunk chunk;
  chunk.forward = randomTime(random, integral);
  chunk.backwardInput = randomTime(random, integral);
  chunk.backwardWeight = randomTime(random, integral);
  chunk.forwardMemory = randomInt(random, 0, 6);
  if (chance(random, 3)) {
    chunk.hasRecompute = true;
    chunk.recompute = randomTime(random, integral);
    chunk.recomputeMemory =
        randomInt(random, -static_cast<int>(chunk.forwardMemory), 4);
  }
  std::int64_t held = chunk.forwardMemory + chunk.recomputeMemory;
  chunk.backwardInputMemory = randomInt(random, -static_cast<int>(held), 2);
  chunk.backwardWeightMemory = -held - chunk.backwardInputMemory;
  chunk.offloadMemory =
      randomInt(random, 0, static_cast<int>(chunk.forwardMemory));
  chunk.offloadTime = randomTime(random, integral);
  return chunk;
}

static Placement randomPlacement(Random &random) {
  int p = randomInt(random, 1, 4), v = randomInt(random, 1, 3);
  std::vector<int> stages;
  for (int chunk = 0; chunk < p * v; ++chunk)
    stages.push_back(chunk % p);
  if (chance(random, 2))
    std::shuffle(stages.begin(), stages.end(), random);
  return *Placement::fromList(p, stages);
}

Problem veeline::schedule::randomSmallProblem(Random &random) {
  bool integral = chance(random, 2);
  Problem problem{randomPlacement(random), randomInt(random, 1, 4), {}, {}};
  int chunks = problem.numChunks();
  for (int chunk = 0; chunk < chunks; ++chunk) {
    problem.chunks.push_back(randomChunk(random, integral));
    if (chance(random, chunk == 0 ? 2 : 8))
      problem.chunks[chunk] = problem.chunks[chunk].withoutBackwardInput();
  }
  for (int from = 0; from < chunks; ++from)
    for (int to = from + 1; to < chunks; ++to)
      for (int i = chance(random, 20) ? 2 : 1; i > 0; --i)
        if (to == from + 1 ? !chance(random, 8) : chance(random, 2 * chunks))
          problem.edges.push_back(
              {from, to, randomTime(random, integral) / 2,
               randomTime(random, integral) / 2,
               problem.chunks[to].hasBackwardInput && !chance(random, 10)});
  problem.overlap = chance(random, 2) ? 0 : randomInt(random, 0, 4) / 4.0;
  return problem;
}

namespace {
struct Timed {
  double time;
  Op op;
};
} // namespace

// Every operation gets a random time after those that it depends on: per
// microbatch, forwards in model order, then backwards in the reverse of it.
Schedule veeline::schedule::randomOrder(Random &random, const Problem &problem,
                                        bool ascending) {
  int p = problem.stages(), chunks = problem.numChunks();
  std::vector<std::vector<Timed>> timed(p);
  auto later = [&] { return randomInt(random, 1, 1000) / 100.0; };
  // The times of F, B and W of each chunk; B and W of the last microbatch too.
  std::vector<double> f(chunks), b(chunks), w(chunks);
  for (int microbatch = 0; microbatch < problem.microbatches; ++microbatch) {
    auto place = [&](OpKind kind, int chunk, double time) {
      timed[problem.placement.stageOf(chunk)].push_back(
          {time, {kind, chunk, microbatch}});
      return time;
    };
    for (int chunk = 0; chunk < chunks; ++chunk) {
      double ready = 0;
      for (const Edge &edge : problem.edges)
        if (edge.to == chunk)
          ready = std::max(ready, f[edge.from]);
      f[chunk] = place(OpKind::Forward, chunk, ready + later());
    }
    std::vector<double> previousB = b, previousW = w;
    for (int chunk = chunks - 1; chunk >= 0; --chunk) {
      double ready = f[chunk];
      for (const Edge &edge : problem.edges)
        if (edge.from == chunk && edge.carriesGradient)
          ready = std::max(ready, b[edge.to]);
      if (problem.chunks[chunk].hasRecompute)
        ready = std::max(ready,
                         place(OpKind::Recompute, chunk, f[chunk] + later()));
      bool fused = chance(random, 2);
      if (ascending && microbatch > 0)
        ready =
            std::max({ready, previousB[chunk], fused ? previousW[chunk] : 0.0});
      b[chunk] = w[chunk] = ready + later();
      if (fused) {
        place(OpKind::Backward, chunk, b[chunk]);
        continue;
      }
      if (problem.chunks[chunk].hasBackwardInput) {
        place(OpKind::BackwardInput, chunk, b[chunk]);
        if (ascending && microbatch > 0)
          w[chunk] = std::max(w[chunk], previousW[chunk]);
        w[chunk] += later();
      }
      place(OpKind::BackwardWeight, chunk, w[chunk]);
    }
  }
  Schedule schedule{"random", {}};
  schedule.stages.resize(p);
  for (int stage = 0; stage < p; ++stage) {
    std::stable_sort(
        timed[stage].begin(), timed[stage].end(),
        [](const Timed &a, const Timed &b) { return a.time < b.time; });
    for (const Timed &entry : timed[stage])
      schedule.stages[stage].push_back(entry.op);
  }
  return schedule;
}

void veeline::schedule::addBlocks(Random &random, Schedule &schedule) {
  schedule.overlapped.resize(schedule.stages.size());
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    const std::vector<Op> &ops = schedule.stages[stage];
    for (int step = 0; step + 1 < static_cast<int>(ops.size()); ++step) {
      auto isBackward = [](const Op &op) {
        return op.kind == OpKind::BackwardInput || op.kind == OpKind::Backward;
      };
      const Op &a = ops[step], &b = ops[step + 1];
      bool fits = a.microbatch != b.microbatch &&
                  ((a.kind == OpKind::Forward && isBackward(b)) ||
                   (b.kind == OpKind::Forward && isBackward(a)));
      if (fits && chance(random, 2))
        schedule.overlapped[stage].push_back(step++);
    }
  }
}

void veeline::schedule::disturb(Random &random, Schedule &schedule) {
  int rarity = randomInt(random, 3, 60);
  for (std::vector<Op> &ops : schedule.stages)
    for (std::size_t i = 0; i + 1 < ops.size(); ++i)
      if (chance(random, rarity))
        std::swap(ops[i], ops[i + 1]);
}

void veeline::schedule::addRandomOffloads(Random &random,
                                          const Problem &problem,
                                          Schedule &schedule) {
  for (std::size_t stage = 0; stage < schedule.stages.size(); ++stage) {
    std::vector<Offload> &offloads = schedule.offloads.emplace_back();
    const std::vector<Op> &ops = schedule.stages[stage];
    std::vector<int> places;
    for (int step = 0, e = static_cast<int>(ops.size()); step < e; ++step)
      if (schedule.overlapped.empty() ||
          std::find(schedule.overlapped[stage].begin(),
                    schedule.overlapped[stage].end(),
                    step - 1) == schedule.overlapped[stage].end())
        places.push_back(step);
    for (std::size_t first = 0; first < ops.size(); ++first) {
      const Op &op = ops[first];
      if (op.kind != OpKind::Forward || chance(random, 2) ||
          problem.chunks[op.chunk].offloadMemory == 0)
        continue;
      auto reader = std::find_if(ops.begin(), ops.end(), [&](const Op &other) {
        return other.chunk == op.chunk && other.microbatch == op.microbatch &&
               other.kind != OpKind::Forward;
      });
      auto begin = std::upper_bound(places.begin(), places.end(),
                                    static_cast<int>(first));
      auto end = std::upper_bound(places.begin(), places.end(),
                                  static_cast<int>(reader - ops.begin()));
      if (begin >= end)
        continue;
      auto count = static_cast<int>(end - begin);
      int one = randomInt(random, 0, count - 1);
      int other = randomInt(random, 0, count - 1);
      offloads.push_back({op.chunk, op.microbatch, begin[std::min(one, other)],
                          begin[std::max(one, other)]});
    }
  }
}
