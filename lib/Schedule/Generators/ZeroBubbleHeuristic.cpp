//===- ZeroBubbleHeuristic.cpp - ZB-1p and ZB-2p --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Qi, Wan, Huang, Lin: Zero Bubble Pipeline Parallelism (2024,
// arXiv:2401.10241), section 3: the heuristic for one chunk a stage, under a
// limit of p activations a stage (`zb-1p`) or 2p (`zb-2p`). p = 3, m = 4,
// equal costs, zb-2p:
//
//   stage 0: F0 F1 F2 F3 .  B0 W0 B1 W1 B2 W2 B3 W3
//   stage 1:    F0 F1 F2 B0 F3 B1 W0 B2 W1 B3 W2 W3
//   stage 2:       F0 B0 F1 B1 F2 B2 F3 B3 W0 W1 W2 W3
//
// First every stage places as many F as memory and the time until the first B
// permit, each stage more than the next one. Then there are rounds of one F
// (top down) and one B (bottom up) a stage. W run if memory requires it; if
// they end before an input is available; if the gap before the input would
// otherwise make the stage the one that waits longest; on the first stage once
// it has no F left; and at the end.
//
// Three choices are open: whether the warm-up may end after the arrival of the
// first B; whether an F that would delay the B after it is put off; and whether
// a gap that does no harm is also filled. All eight combinations compete.
//
// The bubble of span with F = B = W and free transfers is (p-1)/(3m+p-1) for
// zb-1p (each stage waits (p-1) F), and 0 for zb-2p once m >= 2p-1.
//
//===----------------------------------------------------------------------===//

#include "Attempts.h"
#include "Generators.h"

using namespace veeline::schedule;

namespace {
constexpr int forwardCode = 0, backwardCode = 1;

struct HeuristicOptions {
  bool warmUpMayOverrun;
  bool putOffForwards;
  bool fillHarmlessGaps;
};

class Heuristic {
public:
  Heuristic(LegBuilder &builder, const HeuristicOptions &options);
  void run();

private:
  void warmUp();
  int extraForwards(int stage, double firstBackward, double &end) const;
  bool wantsForward(int stage) const;
  void fillGap(int stage, double ready);
  void makeRoom(int stage, std::int64_t amount);
  void placeForward(int stage);
  void placeBackward(int stage);
  void round();

  double cost(int stage, int code) const {
    return problem.leg(stage, code).cost;
  }
  int forwards(int stage) const { return builder.placed(stage, forwardCode); }
  int backwards(int stage) const { return builder.placed(stage, backwardCode); }

  LegBuilder &builder;
  const LegProblem &problem;
  const HeuristicOptions &options;
  int p, m;
  /// The time of the gradient from stage s+1 to s.
  std::vector<double> gradientTransfer;
};
} // namespace

Heuristic::Heuristic(LegBuilder &builder, const HeuristicOptions &options)
    : builder(builder), problem(builder.getProblem()), options(options),
      p(problem.stages()), m(problem.microbatches()), gradientTransfer(p) {
  for (int stage = 0; stage < p; ++stage)
    for (const Link &link : problem.leg(stage, backwardCode).inputs)
      if (link.chunk == stage + 1)
        gradientTransfer[stage] =
            std::max(gradientTransfer[stage], link.transfer);
}

void Heuristic::makeRoom(int stage, std::int64_t amount) {
  while (builder.memory(stage) + amount > problem.limit(stage) &&
         builder.owesWeight(stage))
    builder.placeWeight(stage);
}

/// Returns the number of further F that a stage runs before its first B, whose
/// input is available at `firstBackward`. Sets `end` to the time when they are
/// done. No more microbatches than these are ever unfinished at once, so they
/// fit into memory once their W have run.
int Heuristic::extraForwards(int stage, double firstBackward,
                             double &end) const {
  std::int64_t memory = builder.memory(stage);
  std::int64_t held = problem.leg(stage, forwardCode).memory;
  std::int64_t peak =
      held + std::max<std::int64_t>(0, problem.leg(stage, backwardCode).memory);
  double forward = cost(stage, forwardCode);
  int extra = 0;
  end = builder.now(stage);
  while (forwards(stage) + extra < m && memory + peak <= problem.limit(stage) &&
         (options.warmUpMayOverrun ? end < firstBackward
                                   : end + forward <= firstBackward)) {
    memory += held;
    end += forward;
    ++extra;
  }
  return extra;
}

void Heuristic::warmUp() {
  for (int stage = 0; stage < p; ++stage)
    builder.place(stage, forwardCode);
  std::vector<int> extra(p);
  double firstBackward = builder.now(p - 1) + cost(p - 1, backwardCode);
  for (int stage = p - 2; stage >= 0; --stage) {
    firstBackward += gradientTransfer[stage];
    double end;
    extra[stage] = extraForwards(stage, firstBackward, end);
    firstBackward = std::max(firstBackward, end) + cost(stage, backwardCode);
  }
  for (int stage = 1; stage < p; ++stage) {
    while (extra[stage] > 0 && extra[stage] >= extra[stage - 1] &&
           forwards(stage) + extra[stage] < m)
      --extra[stage];
    extra[stage] = std::min(extra[stage], extra[stage - 1]);
  }
  for (int stage = 0; stage < p; ++stage)
    for (int i = 0; i < extra[stage]; ++i)
      builder.place(stage, forwardCode);
  for (int stage = p - 1; stage >= 0; --stage)
    builder.place(stage, backwardCode);
}

/// Whether a stage runs its next F before its next B.
bool Heuristic::wantsForward(int stage) const {
  if (forwards(stage) >= m)
    return false;
  if (!options.putOffForwards || stage + 1 == p ||
      forwards(stage) < forwards(stage + 1) + 2)
    return true;
  // The next stage has an F in reserve. The question is when its B will send a
  // gradient to this stage.
  double now = builder.now(stage);
  double gradient = builder.now(stage + 1) + cost(stage + 1, forwardCode) +
                    cost(stage + 1, backwardCode) + gradientTransfer[stage];
  if (now >= gradient)
    return false;
  const LegProblem::Leg &weight = problem.leg(stage, backwardCode);
  std::int64_t memory =
      builder.memory(stage) + problem.leg(stage, forwardCode).memory;
  double end = now + cost(stage, forwardCode);
  for (int owed = builder.numOwed(stage);
       owed > 0 && memory > problem.limit(stage); --owed) {
    end += weight.weightCost;
    memory += weight.weightMemory;
  }
  return end <= gradient ||
         gradient - now > builder.maxIdle() - builder.idle(stage);
}

/// Runs W before an operation whose inputs are available at `ready`.
void Heuristic::fillGap(int stage, double ready) {
  auto fits = [&] {
    LegBuilder::Owed weight = builder.oldestOwed(stage);
    return std::max(builder.now(stage), weight.ready) + weight.cost <= ready;
  };
  while (builder.owesWeight(stage) && fits())
    builder.placeWeight(stage);
  double gap = ready - builder.now(stage);
  if (gap > 0 && builder.owesWeight(stage) &&
      builder.oldestOwed(stage).ready < ready &&
      (options.fillHarmlessGaps ||
       gap > builder.maxIdle() - builder.idle(stage)))
    builder.placeWeight(stage);
}

void Heuristic::placeForward(int stage) {
  makeRoom(stage, problem.leg(stage, forwardCode).memory);
  fillGap(stage, builder.readyTime(stage, forwardCode));
  builder.place(stage, forwardCode);
}

void Heuristic::placeBackward(int stage) {
  makeRoom(stage, problem.leg(stage, backwardCode).memory);
  fillGap(stage, builder.readyTime(stage, backwardCode));
  if (stage == 0 && forwards(stage) == m)
    while (builder.owesWeight(stage))
      builder.placeWeight(stage);
  builder.place(stage, backwardCode);
}

void Heuristic::round() {
  std::vector<bool> wants(p);
  for (int stage = p - 1; stage >= 0; --stage)
    wants[stage] = wantsForward(stage) && (stage + 1 == p || wants[stage + 1]);
  for (int stage = 0; stage < p; ++stage)
    if (wants[stage])
      placeForward(stage);
  for (int stage = p - 1; stage >= 0; --stage)
    placeBackward(stage);
}

void Heuristic::run() {
  builder.reset();
  warmUp();
  for (int i = 1; i < m; ++i)
    round();
  for (int stage = 0; stage < p; ++stage)
    while (builder.owesWeight(stage))
      builder.placeWeight(stage);
}

/// A stage may hold `multiple` times p activations, or what its limit says if
/// `multiple` is 0.
static Expected<Schedule> generateHeuristic(const Problem &problem,
                                            const GeneratorOptions &options,
                                            const char *name, int multiple) {
  LegProblem legs(problem);
  for (int stage = 0; multiple > 0 && stage < legs.stages(); ++stage) {
    std::int64_t limit = multiple * legs.stages() * legs.held(stage);
    legs.setLimit(stage, legs.hasGivenLimit(stage)
                             ? std::min(legs.limit(stage), limit)
                             : limit);
  }
  if (Status status = checkLeastLimits(problem, legs, name); !status)
    return status.takeError();
  LegBuilder builder(legs);
  Best best(options.objective);
  for (bool warmUpMayOverrun : {false, true})
    for (bool putOffForwards : {true, false})
      for (bool fillHarmlessGaps : {true, false}) {
        HeuristicOptions variant{warmUpMayOverrun, putOffForwards,
                                 fillHarmlessGaps};
        Heuristic(builder, variant).run();
        best.offer(builder);
      }
  Schedule schedule = LegBuilder::decode(best.orders(), problem);
  schedule.name = name;
  return schedule;
}

Expected<Schedule>
veeline::schedule::generateZeroBubble1P(const Problem &problem,
                                        const GeneratorOptions &options) {
  return generateHeuristic(problem, options, "zb-1p", 1);
}

Expected<Schedule>
veeline::schedule::generateZeroBubble2P(const Problem &problem,
                                        const GeneratorOptions &options) {
  return generateHeuristic(problem, options, "zb-2p", 2);
}

Expected<Schedule>
veeline::schedule::generateZeroBubbleInLimit(const Problem &problem,
                                             const GeneratorOptions &options) {
  return generateHeuristic(problem, options, "zb-1p", 0);
}
