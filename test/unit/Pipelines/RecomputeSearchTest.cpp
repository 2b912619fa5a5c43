//===- RecomputeSearchTest.cpp - the least time within limits -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compares the search with all combinations of what chunks can recompute, each
// carried through to the plan of memory.
//
//===----------------------------------------------------------------------===//

#include "RecomputeSearch.h"
#include "../Rounds.h"
#include "veeline/InitAll.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace veeline;

/// Makes layers of a matrix product and of elementwise ops whose values are
/// kept, of sizes that differ from layer to layer.
static std::string makeModel(int layers) {
  std::string parameters, body, value = "%x";
  auto type = [](int width) {
    return "tensor<8x" + std::to_string(width) + "xf32>";
  };
  auto width = [](int layer) { return 16 + 8 * (layer % 3); };
  for (int i = 0; i < layers; ++i) {
    std::string n = std::to_string(i), from = type(width(i)),
                to = type(width(i + 1));
    std::string weight = "tensor<" + std::to_string(width(i)) + "x" +
                         std::to_string(width(i + 1)) + "xf32>";
    parameters += ", %w" + n + ": " + weight +
                  " {pipe.param = #pipe.param<\"w" + n +
                  "\", init = normal(0.0, 0.1)>}";
    body += "%e" + n + " = tensor.empty() : " + to + "\n";
    body += "%z" + n + " = linalg.fill ins(%zero : f32) outs(%e" + n + " : " +
            to + ") -> " + to + "\n";
    body += "%p" + n + " = linalg.matmul ins(" + value + ", %w" + n + " : " +
            from + ", " + weight + ") outs(%z" + n + " : " + to + ") -> " + to +
            "\n";
    body += "%t" + n + " = math.tanh %p" + n + " : " + to + "\n";
    body += "%s" + n + " = arith.mulf %t" + n + ", %p" + n + " : " + to + "\n";
    body += "%x" + n + " = math.exp %s" + n + " : " + to + "\n";
    body += "%m" + n + " = arith.mulf %x" + n + ", %t" + n + " : " + to + "\n";
    value = "%m" + n;
    if (i + 1 == layers)
      continue;
    body += "%b" + n + " = pipe.boundary " + value + " : " + to + "\n";
    value = "%b" + n;
  }
  return "func.func @net(%x: " + type(width(0)) + " {pipe.batch = \"x\"}" +
         parameters + ") -> tensor<f32> {\n%zero = arith.constant 0.0 : f32\n" +
         body +
         "%e = tensor.empty() : tensor<f32>\n"
         "%z = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> "
         "tensor<f32>\n"
         "%loss = linalg.reduce { arith.addf } ins(" +
         value + " : " + type(width(layers)) +
         ") outs(%z : tensor<f32>) dimensions = [0, 1]\n"
         "return %loss : tensor<f32>\n}\n";
}

namespace {

class Search : public ::testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    veeline::registerEveryDialect(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// Plans every combination of the points of all chunks.
  void plan(const std::string &schedule, int chunksPerStage, int layers,
            int maxCuts, int microbatches = 4) {
    options.stages = 2;
    options.chunksPerStage = chunksPerStage;
    options.microbatches = microbatches;
    options.schedule = schedule;
    effort.maxCuts = maxCuts;
    model = parseSourceString<ModuleOp>(makeModel(layers), &context);
    ASSERT_TRUE(model);
    trial.emplace(*model, options, std::vector<int64_t>());
    ASSERT_TRUE(succeeded(trial->partition()));
    int numChunks = 2 * chunksPerStage;
    asked.assign(numChunks, {RecomputeKind::Auto});
    auto first = trial->attempt(
        std::vector<Recompute>(numChunks, {RecomputeKind::None}));
    ASSERT_TRUE(succeeded(first));
    start = *first;
    std::vector<std::vector<const ChunkVariant *>> points;
    for (int chunk = 0; chunk < numChunks; ++chunk) {
      bool isFused = schedule != "zb-h1" && schedule != "zb-v";
      auto found = findRecomputePoints(*trial, chunk, isFused, maxCuts, true);
      ASSERT_TRUE(succeeded(found));
      EXPECT_GT(found->size(), 1u);
      points.push_back(*found);
    }
    std::vector<size_t> choice(numChunks, 0);
    for (bool isLast = false; !isLast;) {
      std::vector<Recompute> policies;
      for (int chunk = 0; chunk < numChunks; ++chunk)
        policies.push_back(points[chunk][choice[chunk]]->policy);
      auto result = trial->attempt(policies);
      ASSERT_TRUE(succeeded(result));
      all.push_back(std::move(*result));
      isLast = true;
      for (int chunk = 0; chunk < numChunks && isLast; ++chunk) {
        isLast = ++choice[chunk] == points[chunk].size();
        if (isLast)
          choice[chunk] = 0;
      }
    }
  }

  /// Limits between the least and the most of each rank.
  std::vector<int64_t> limitsAt(std::vector<double> shares) const {
    std::vector<int64_t> limits;
    for (auto [rank, share] : llvm::enumerate(shares)) {
      int64_t least = start.arenas[rank];
      for (const MemoryAttempt &attempt : all)
        least = std::min(least, attempt.arenas[rank]);
      limits.push_back(
          least + static_cast<int64_t>(share * (start.arenas[rank] - least)));
    }
    return limits;
  }

  std::optional<double> leastTime(ArrayRef<int64_t> limits) const {
    std::optional<double> least;
    for (const MemoryAttempt &attempt : all)
      if (attempt.fits(limits))
        least = std::min(least.value_or(attempt.step), attempt.step);
    return least;
  }

  /// The time that the search finds, if any.
  std::optional<double> search(ArrayRef<int64_t> limits) {
    auto attempt = [&](std::vector<Recompute> policies,
                       std::vector<int64_t> bounds) {
      ++plans;
      return trial->attempt(std::move(policies), std::move(bounds));
    };
    auto found =
        RecomputeSearch(*trial, asked, limits, start, effort, attempt).run();
    EXPECT_TRUE(succeeded(found));
    if (failed(found) || !*found)
      return std::nullopt;
    EXPECT_TRUE((*found)->fits(limits));
    return (*found)->step;
  }

  /// Expects the search to be as good as all combinations. Returns how often
  /// recomputation cost time to fit.
  int compare() {
    int met = 0;
    for (double first : {0.0, 0.2, 0.5, 0.8, 1.0})
      for (double second : {0.1, 0.5, 1.0}) {
        std::vector<int64_t> limits = limitsAt({first, second});
        if (start.fits(limits))
          continue;
        std::optional<double> least = leastTime(limits), found = search(limits);
        EXPECT_EQ(least.has_value(), found.has_value());
        if (least && found) {
          EXPECT_DOUBLE_EQ(*least, *found) << first << ", " << second;
          met += *least > start.step;
        }
      }
    return met;
  }

  MLIRContext context;
  CompileOptions options;
  OwningOpRef<ModuleOp> model;
  std::optional<MemoryTrial> trial;
  std::vector<Recompute> asked;
  MemoryAttempt start;
  std::vector<MemoryAttempt> all;
  SearchEffort effort;
  int plans = 0;
};

} // namespace

TEST_F(Search, OneForwardOneBackward) {
  plan("1f1b", 1, 4, 6);
  EXPECT_GT(compare(), 4);
}

/// An order that depends on costs, with split backwards.
TEST_F(Search, SplitBackward) {
  plan("zb-h1", 1, 4, 6);
  EXPECT_GT(compare(), 4);
}

TEST_F(Search, SeveralChunksOfAStage) {
  plan("zb-v", 2, 4, 0, veeline::test::isLong() ? 4 : 2);
  EXPECT_GT(compare(), 4);
}

/// If chunks are alone on their ranks and their order is fixed, going step by
/// step finds the same.
TEST_F(Search, StepByStep) {
  plan("1f1b", 1, 4, 6);
  effort.maxExact = 0;
  EXPECT_GT(compare(), 4);
}

/// With several chunks a stage, going step by step comes close, in few plans.
TEST_F(Search, StepsOfSeveralChunks) {
  plan("interleaved-1f1b", 2, 8, 1);
  effort.maxExact = 0;
  for (size_t maxOfStage : {4096, 1}) {
    effort.maxOfStage = maxOfStage;
    for (double share : {0.2, 0.5, 0.8}) {
      std::vector<int64_t> limits = limitsAt({share, share});
      plans = 0;
      std::optional<double> least = leastTime(limits), found = search(limits);
      ASSERT_TRUE(least && found) << share;
      EXPECT_LE(*found, *least * 1.01) << share;
      EXPECT_LE(plans, 44);
    }
  }
}

/// Orders that hold less meet limits that the schedule's own order does not.
/// Looking for them as well is never worse, or little worse if there are too
/// many combinations.
TEST_F(Search, OrdersThatHoldLess) {
  plan("zb-v", 2, 5, 0, veeline::test::isLong() ? 4 : 2);
  effort.canTighten = true;
  std::vector<double> shares = {-0.1, 0.0, 0.4};
  if (veeline::test::isLong())
    shares = {-0.2, -0.1, 0.0, 0.2, 0.4, 0.6, 0.8};
  int more = 0;
  for (bool isSmall : {true, false}) {
    effort.maxExact = isSmall ? 4096 : 0;
    for (double share : shares) {
      std::vector<int64_t> limits = limitsAt({share, share});
      std::optional<double> least = leastTime(limits), found = search(limits);
      ASSERT_GE(found.has_value(), least.has_value()) << share;
      more += found && !least;
      if (least) {
        EXPECT_LE(*found, *least * (isSmall ? 1 : 1.05)) << share;
      }
    }
  }
  EXPECT_GT(more, 0);
}

/// No combination meets these limits.
TEST_F(Search, NothingFits) {
  plan("1f1b", 1, 4, 2);
  std::vector<int64_t> limits = limitsAt({0, 0});
  limits[1] -= 64;
  EXPECT_FALSE(search(limits));
  effort.maxExact = 0;
  EXPECT_FALSE(search(limits));
}
