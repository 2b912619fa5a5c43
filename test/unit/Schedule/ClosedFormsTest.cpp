//===- ClosedFormsTest.cpp - the literature against the simulator ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/ClosedForms.h"
#include "TestUtilities.h"

#include <algorithm>

using namespace veeline::schedule;

/// Expects a simulated figure to be what a form says.
static void expectForm(const std::optional<Form> &form, double simulated,
                       const std::string &what) {
  if (!form)
    return;
  EXPECT_FALSE(form->formula.empty());
  EXPECT_FALSE(form->source.empty());
  switch (form->kind) {
  case FormKind::Exact:
    EXPECT_NEAR(simulated, form->value, 1e-9) << what << " " << form->formula;
    break;
  case FormKind::AtMost:
    EXPECT_LE(simulated, form->value + 1e-9) << what << " " << form->formula;
    break;
  case FormKind::Approximate:
    EXPECT_NEAR(simulated, form->value, 0.02) << what << " " << form->formula;
    break;
  }
}

static double peakOf(const Simulation &simulation, int stage) {
  return static_cast<double>(simulation.stages[stage].peakMemory) /
         activationUnit;
}

static void compare(std::string_view name, int p, int v, int m,
                    const OpValues &cost) {
  std::string what = std::string(name) + " p=" + std::to_string(p) +
                     " v=" + std::to_string(v) + " m=" + std::to_string(m);
  Expected<ClosedForms> forms = closedForms(name, p, v, m, cost);
  ASSERT_TRUE(forms) << forms.error().message;
  Problem problem =
      makeProblem(name, p, v, m, cost.forward / v, cost.backwardInput / v,
                  cost.backwardWeight / v);
  Expected<Schedule> schedule =
      generate(name, problem, {.objective = Objective::Span});
  if (!schedule) {
    ASSERT_EQ(schedule.error().kind, ErrorKind::NotApplicable);
    return;
  }
  Simulation simulation = *simulate(problem, *schedule);
  expectForm(forms->bubble, simulation.bubbleMakespan, what);
  expectForm(forms->bubbleOfSpan, simulation.bubbleSpan, what);
  double share = simulation.bubbleMakespan;
  expectForm(forms->bubbleToWork, share / (1 - share), what);
  double worst = 0;
  for (int stage = 0; stage < p; ++stage) {
    double peak = peakOf(simulation, stage);
    worst = std::max(worst, peak);
    if (forms->activations)
      expectForm(Form{forms->activationsOfStage[stage],
                      forms->activations->kind, forms->activations->formula,
                      forms->activations->source},
                 peak, what);
  }
  expectForm(forms->activations, worst, what);
  double messages = communicationOrder(problem, *schedule)->size();
  expectForm(forms->messages, messages / m, what);
  EXPECT_EQ(forms->bytes(100), forms->messages.value * 100);
}

// A name may have a form and no generator, or the other way around. What has
// both must agree.
TEST(ClosedForms, AgreeWithTheSimulator) {
  int compared = 0;
  for (const Generator &generator : generators()) {
    if (!closedForms(generator.name, 2, generator.minChunksPerStage, 2))
      continue;
    int most = generator.maxChunksPerStage;
    for (int p : {1, 2, 4, 5})
      for (int v = generator.minChunksPerStage;
           v <= (most == 0 ? generator.minChunksPerStage + 2 : most); ++v)
        for (int m : {1, 4, 7, 10})
          for (OpValues cost : {OpValues{1, 1, 1}, {14.5, 14.25, 9.75}}) {
            compare(generator.name, p, v, m, cost);
            ++compared;
          }
  }
  EXPECT_GT(compared, 150);
}

TEST(ClosedForms, ForEveryNameThatHasOne) {
  for (const char *name :
       {"sequential", "gpipe", "1f1b", "interleaved-1f1b", "zb-v"})
    EXPECT_TRUE(
        findGenerator(name) &&
        closedForms(name, 4, (*findGenerator(name))->minChunksPerStage, 8))
        << name;
}

TEST(ClosedForms, BytesOverLinks) {
  // 2S(p-1), 2S(pv-1) and 2S·v(p-1).
  EXPECT_EQ(closedForms("1f1b", 4, 1, 8)->bytes(10), 2 * 10 * 3);
  EXPECT_EQ(closedForms("interleaved-1f1b", 4, 3, 8)->bytes(10), 2 * 10 * 11);
  EXPECT_EQ(closedForms("zb-v", 4, 2, 8)->bytes(10), 2 * 10 * 2 * 3);
  EXPECT_EQ(closedForms("zb-v", 4, 2, 8)->messages.formula, "2v(p-1)");
  EXPECT_EQ(closedForms("interleaved-1f1b", 1, 3, 8)->bytes(10), 0);
}

TEST(ClosedForms, Conditions) {
  EXPECT_FALSE(closedForms("interleaved-1f1b-remainder", 4, 2, 7)->bubble);
  EXPECT_TRUE(closedForms("interleaved-1f1b-remainder", 4, 2, 8)->bubble);
  EXPECT_DOUBLE_EQ(
      closedForms("interleaved-1f1b", 4, 2, 8)->bubbleToWork->value,
      0.5 * 3 / 8);
  EXPECT_FALSE(closedForms("zb-h1", 4, 1, 3)->bubble);
  EXPECT_DOUBLE_EQ(closedForms("zb-h1", 4, 1, 8)->bubble->value, 3.0 / 27);
}

// The last group takes the remainder: 7 of 11 microbatches with p = 4.
TEST(ClosedForms, InterleavedRemainder) {
  ClosedForms forms = *closedForms("interleaved-1f1b", 4, 2, 11);
  EXPECT_DOUBLE_EQ(forms.bubble->value, 3.0 / 25);
  EXPECT_DOUBLE_EQ(forms.activations->value, (2 * 3 + 7 + 1) / 2.0);
  EXPECT_NE(forms.activations->formula.find("g=p+m mod p"),
            std::string_view::npos);
  // With m < p, the only group has m.
  EXPECT_DOUBLE_EQ(closedForms("interleaved-1f1b", 4, 2, 3)->bubble->value,
                   1 - 6.0 / 10);
  EXPECT_DOUBLE_EQ(closedForms("interleaved-1f1b", 4, 3, 3)->activations->value,
                   9 / 3.0);
  // A group of its own keeps the warm-up.
  EXPECT_DOUBLE_EQ(
      closedForms("interleaved-1f1b-remainder", 4, 2, 11)->activations->value,
      (2 * 3 + 4 + 1) / 2.0);
}

TEST(ClosedForms, Errors) {
  auto errorOf = [](std::string_view name, int p, int v, int m) {
    Expected<ClosedForms> forms = closedForms(name, p, v, m);
    EXPECT_FALSE(forms);
    return forms ? std::string() : forms.error().message;
  };
  EXPECT_EQ(errorOf("mystery", 2, 1, 2),
            "no closed forms are known for schedule 'mystery'");
  EXPECT_EQ(errorOf("1f1b", 0, 1, 2),
            "closed forms need at least 1 stage, 1 chunk per stage and 1 "
            "microbatch, not 0, 1 and 2");
  EXPECT_EQ(errorOf("1f1b", 2, 2, 2),
            "schedule 1f1b does not have 2 chunks per stage");
  EXPECT_EQ(errorOf("zb-v", 2, 1, 2),
            "schedule zb-v does not have 1 chunk per stage");
}

/// 1F1B with each backward as B and W, one after the other, so that what B adds
/// shows.
static Schedule splitInPlace(const Schedule &schedule) {
  Schedule result{schedule.name, {}};
  for (const std::vector<Op> &ops : schedule.stages) {
    result.stages.emplace_back();
    for (const Op &op : ops) {
      if (op.kind == OpKind::Forward) {
        result.stages.back().push_back(op);
        continue;
      }
      for (OpKind kind : {OpKind::BackwardInput, OpKind::BackwardWeight})
        result.stages.back().push_back({kind, op.chunk, op.microbatch});
    }
  }
  return result;
}

TEST(ClosedForms, BytesOfActivations) {
  // 6 layers of 100 bytes on a stage whose input has 30; half of them are alive
  // at once in a backward that recomputes.
  for (int p : {1, 2, 4})
    for (int m : {1, 2, 8}) {
      Problem kept = makeProblem("1f1b", p, 1, m), recomputed = kept;
      for (Chunk &chunk : kept.chunks) {
        chunk.forwardMemory = 600;
        chunk.backwardWeightMemory = -600;
      }
      for (Chunk &chunk : recomputed.chunks) {
        chunk.forwardMemory = 30;
        chunk.backwardInputMemory = 300;
        chunk.backwardWeightMemory = -330;
      }
      Schedule schedule = splitInPlace(*generate("1f1b", kept));
      Simulation without = *simulate(kept, schedule);
      Simulation with = *simulate(recomputed, schedule);
      ClosedForms forms = *closedForms("1f1b", p, 1, m);
      for (int stage = 0; stage < p; ++stage) {
        double count = forms.activationsOfStage[stage];
        EXPECT_EQ(without.stages[stage].peakMemory,
                  activationBytes(count, 6, 100));
        EXPECT_EQ(with.stages[stage].peakMemory,
                  recomputedActivationBytes(count, 30, 0.5, 6, 100));
      }
    }
}

// The forms hold where the table of docs/scheduling.md says so, and only there.
TEST(ClosedForms, ConditionsOfZeroBubble) {
  for (int p = 2; p <= 8; ++p)
    for (int m = 1; m <= 17; ++m)
      for (auto [name, v] : {std::pair("zb-1p", 1), {"interleaved-zb", 2}}) {
        Problem problem = makeProblem(name, p, v, m);
        Simulation simulation = *simulate(problem, *generate(name, problem));
        double form = (p - 1.0) / (3 * v * m + p - 1);
        std::string what = std::string(name) + " p=" + std::to_string(p) +
                           " m=" + std::to_string(m);
        if (m >= p)
          EXPECT_NEAR(simulation.bubbleMakespan, form, 1e-9) << what;
        else
          EXPECT_GT(simulation.bubbleMakespan, form + 1e-6) << what;
        double peak = 0;
        for (int stage = 0; stage < p; ++stage)
          peak = std::max(peak, peakOf(simulation, stage));
        if (v == 1 || m % p == 0 || m <= p)
          EXPECT_NEAR(peak, std::min(p, m), 1e-9) << what;
        else
          EXPECT_GT(peak, p) << what;
      }
}
