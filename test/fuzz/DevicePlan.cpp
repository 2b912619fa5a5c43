//===- DevicePlan.cpp - how a model is run on a GPU -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DevicePlan.h"

#include "Random.h"
#include "veeline/Base/Optimizers.h"

#include <algorithm>

using namespace veeline::fuzz;

namespace {

using Words = std::vector<std::string>;

/// Chooses one thing after the other. What goes together is said where it is
/// chosen; the compiler refuses everything else.
class Planner {
public:
  Planner(uint64_t seed, int64_t microbatches, int64_t pieces)
      : seed(seed), microbatches(microbatches), pieces(pieces) {}

  DevicePlan plan();

private:
  /// Numbers for one choice, which do not depend on what others have taken.
  Random numbersFor(uint64_t choice) const { return Random(seed ^ choice); }
  void chooseShape();
  void choosePartition();
  void chooseReplicas();
  void chooseClipping();
  void chooseLossScale();
  void chooseOptimizer();
  void chooseCommunication();
  void chooseCode();
  void chooseSteps();
  void compile(const std::string &option, const std::string &value) {
    result.compile.insert(result.compile.end(), {option, value});
  }
  void train(const std::string &option, const std::string &value) {
    result.train.insert(result.train.end(), {option, value});
  }

  const uint64_t seed;
  const int64_t microbatches, pieces;
  DevicePlan result;
  int64_t stages = 1, chunksPerStage = 1;
  std::string schedule;
  bool isAsynchronous = false, isCyclic = false, clips = false;
  /// Whether some stage has ranks that could share its updates out.
  bool hasShares = false;
};

} // namespace

static std::string join(const Words &words) {
  std::string text;
  for (const std::string &word : words)
    text += (text.empty() ? "" : ",") + word;
  return text;
}

/// Stages, chunks and a schedule that takes them. Every other model has steps
/// of which a part runs in the next one, where it can.
void Planner::chooseShape() {
  Random random = numbersFor(0xC075);
  std::vector<int64_t> counts = {1, 2, 2, 3, 4, 4, 4, 5, 6, 8};
  int64_t chunks = std::min(random.oneOf(counts), pieces);
  std::vector<int64_t> divisors;
  for (int64_t v = 1; v <= chunks; ++v)
    if (chunks % v == 0)
      divisors.push_back(v);
  chunksPerStage = random.oneOf(divisors);
  stages = chunks / chunksPerStage;
  bool isLate = random.chance(0.5);
  if (isLate && chunksPerStage == 1 && stages <= microbatches) {
    schedule = random.oneOf(Words{"pipedream", "pipedream-2bw"});
    isAsynchronous = true;
  } else if (isLate && chunksPerStage > 1) {
    schedule = "zb-loop";
    isCyclic = true;
  } else {
    Words linear = {"gpipe", "1f1b", "eager-1f1b", "zb-h1", "zb-h2", "zb-2p"};
    Words looped = {"interleaved-1f1b", "looped-bfs", "hanayo",
                    "interleaved-zb", "zb-wave"};
    if (chunksPerStage == 2)
      looped.insert(looped.end(), {"zb-v", "v-half", "v-min", "dualpipe-v"});
    schedule = random.oneOf(chunksPerStage == 1 ? linear : looped);
  }
  compile("--stages", std::to_string(stages));
  compile("--chunks-per-stage", std::to_string(chunksPerStage));
  compile("--microbatches", std::to_string(microbatches));
  compile("--schedule", schedule);
}

void Planner::choosePartition() {
  Random random = numbersFor(0x9A27);
  std::vector<int64_t> counts(static_cast<size_t>(stages * chunksPerStage), 1);
  for (int64_t i = stages * chunksPerStage; i < pieces; ++i)
    ++counts[static_cast<size_t>(random.below(stages * chunksPerStage))];
  Words words;
  for (int64_t count : counts)
    words.push_back(std::to_string(count));
  compile("--partition", join(words));
}

void Planner::chooseReplicas() {
  Random random = numbersFor(0x2E91);
  bool isStage = random.chance(0.4);
  if (!random.chance(0.3))
    return;
  if (!isStage || isAsynchronous || isCyclic || microbatches == 1) {
    compile("--replicas", std::to_string(random.between(2, 3)));
    hasShares = !isAsynchronous;
    return;
  }
  Words widths;
  for (int64_t i = 0; i < stages; ++i)
    widths.push_back(std::to_string(random.between(1, 2)));
  hasShares = std::find(widths.begin(), widths.end(), "2") != widths.end();
  compile("--stage-replicas", join(widths));
}

void Planner::chooseClipping() {
  Random random = numbersFor(0xC119);
  if (random.chance(0.2))
    train("--clip-value", "0.02");
  clips = random.chance(0.5) && !isAsynchronous && !isCyclic;
  if (!clips)
    return;
  compile("--clip-sync", "barrier");
  train("--clip-norm", "0.05");
  if (random.chance(0.5))
    result.train.push_back("--skip-nonfinite");
}

void Planner::chooseLossScale() {
  Random random = numbersFor(0x105C);
  if (!random.chance(0.3))
    return;
  result.compile.push_back("--loss-scaling");
  // A dynamic one needs to know whether a gradient is infinite.
  if (!clips || random.chance(0.3))
    return train("--loss-scale", "512");
  train("--initial-loss-scale", "1024");
  train("--loss-scale-window", "2");
}

void Planner::chooseOptimizer() {
  std::string optimizer = numbersFor(0x0971).oneOf(
      Words{"sgd", "sgd-momentum", "sgd-nesterov", "adam", "adamw", "adamw",
            "nadamw", "lion", "adafactor", "muon"});
  compile("--optimizer", optimizer);
  result.isComparable =
      veeline::isElementwise(*veeline::parseOptimizer(optimizer));
  if (numbersFor(0xEFB0).chance(0.3))
    result.compile.push_back("--error-feedback");
  if (hasShares && result.isComparable && numbersFor(0x5A4D).chance(0.5))
    result.compile.push_back("--shard-optimizer");
}

void Planner::chooseCommunication() {
  Random random = numbersFor(0xC033);
  compile("--communication",
          random.oneOf(Words{"p2p", "batched", "ring", "overlap", "duplex"}));
  compile("--split-messages", random.oneOf(Words{"1", "1", "2", "3", "10"}));
  if (random.chance(0.4) && !isAsynchronous && !isCyclic)
    compile("--compute-streams", "chunk");
  if (numbersFor(0x5043).chance(0.5))
    compile("--sums", "ordered");
}

void Planner::chooseCode() {
  Random random = numbersFor(0x9EC0);
  Words choices = {"none", "balanced", "cheap", "full",
                   "0.3",  "0.7",      "1B/ns", "0B/ns"};
  Words recompute;
  for (int64_t i = 0; i < stages * chunksPerStage; ++i)
    recompute.push_back(random.oneOf(choices));
  compile("--recompute", join(recompute));
  bool recomputes = std::any_of(
      recompute.begin(), recompute.end(), [](const std::string &choice) {
        return choice != "none" && choice != "balanced";
      });
  if (recomputes && !isAsynchronous && random.chance(0.5))
    result.compile.push_back("--recompute-ahead");
  if (random.chance(0.2))
    compile("--products", "tf32");
  if (random.chance(0.2))
    result.compile.push_back("--no-epilogues");
  result.refusesEpilogues = random.chance(0.5);
  // Runs for less time than optimising takes.
  result.compile.push_back("-O0");
}

void Planner::chooseSteps() {
  Random random = numbersFor(0x57E9);
  train("--synthetic", random.chance(0.8) ? "fresh" : "fixed");
  train("--seed", std::to_string(seed % 1000));
  train("--steps", std::to_string(random.between(1, 6)));
  train("--lr", "0.01");
  if (random.chance(0.5))
    result.train.insert(result.train.end(),
                        {"--warmup", "2", "--min-lr", "1e-4"});
  if (random.chance(0.3))
    train("--weight-decay-of", "*=0.1");
  if (random.chance(0.3))
    train("--lr-schedule", random.oneOf(Words{"linear", "inverse-sqrt"}));
}

DevicePlan Planner::plan() {
  chooseShape();
  choosePartition();
  chooseReplicas();
  chooseClipping();
  chooseLossScale();
  chooseOptimizer();
  chooseCommunication();
  chooseCode();
  chooseSteps();
  return std::move(result);
}

DevicePlan veeline::fuzz::chooseDevicePlan(uint64_t seed, int64_t microbatches,
                                           int64_t pieces) {
  return Planner(seed, microbatches, pieces).plan();
}
