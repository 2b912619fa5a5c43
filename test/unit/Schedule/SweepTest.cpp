//===- SweepTest.cpp - every generator on random problems -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rounds.h"
#include "Reference.h"
#include "TestUtilities.h"

#include <cmath>

using namespace veeline::schedule;

namespace {
struct Counts {
  int valid = 0, outOfMemory = 0, notApplicable = 0;
};
} // namespace

/// A refusal for memory names a limit that is too low and the least one that
/// works: with all stages at their least, there is a schedule.
static void expectCertificate(std::string_view name, Problem problem,
                              Error error) {
  ASSERT_TRUE(error.stage && error.leastLimit) << error.message;
  while (true) {
    ASSERT_LT(*problem.memoryLimit(*error.stage), *error.leastLimit);
    problem.memoryLimits[*error.stage] = *error.leastLimit;
    Expected<Schedule> schedule = generate(name, problem, quickly());
    if (schedule) {
      EXPECT_TRUE(reference::isValid(problem, *schedule));
      break;
    }
    error = schedule.error();
    ASSERT_EQ(error.kind, ErrorKind::OutOfMemory) << error.message;
  }
}

static void runOne(const Generator &generator, const Problem &problem,
                   Counts &counts) {
  Expected<Schedule> schedule = generate(generator.name, problem, quickly());
  if (schedule) {
    ASSERT_TRUE(reference::isValid(problem, *schedule)) << generator.name;
    ++counts.valid;
    return;
  }
  const Error &error = schedule.error();
  if (error.kind == ErrorKind::OutOfMemory) {
    ++counts.outOfMemory;
    expectCertificate(generator.name, problem, error);
    return;
  }
  ASSERT_EQ(error.kind, ErrorKind::NotApplicable) << error.str();
  ASSERT_EQ(generator.name, "interleaved-1f1b-remainder");
  ASSERT_NE(problem.microbatches % problem.stages(), 0);
  ++counts.notApplicable;
}

class Sweep : public testing::TestWithParam<std::string_view> {};

TEST_P(Sweep, ValidOrACleanError) {
  const Generator &generator = **findGenerator(GetParam());
  Random random = makeRandom();
  Counts counts;
  const int count = veeline::test::rounds(1500, 25);
  for (int round = 0; round < count && !HasFatalFailure(); ++round) {
    int p = randomInt(random, 1, 8), m = randomInt(random, 1, 24);
    Problem problem = randomProblem(random, generator.name, p, m);
    ASSERT_TRUE(check(problem));
    runOne(generator, problem, counts);
  }
  EXPECT_GT(counts.valid, count / 5);
  EXPECT_GT(counts.outOfMemory, count / 100);
}

/// Makes times differ by up to 40 orders of magnitude.
static void spreadTimes(Random &random, Problem &problem) {
  auto scale = [&] { return std::pow(10.0, randomInt(random, -20, 20)); };
  double forward = scale(), backwardInput = scale(), backwardWeight = scale(),
         transfer = scale();
  for (Chunk &chunk : problem.chunks) {
    chunk.forward *= forward;
    chunk.backwardInput *= backwardInput;
    chunk.backwardWeight *= backwardWeight;
  }
  for (Edge &edge : problem.edges) {
    edge.forwardTransfer *= transfer;
    edge.backwardTransfer *= transfer;
  }
}

TEST_P(Sweep, TimesFarApart) {
  const Generator &generator = **findGenerator(GetParam());
  Random random = makeRandom();
  Counts counts;
  const int count = veeline::test::rounds(120);
  for (int round = 0; round < count && !HasFatalFailure(); ++round) {
    int p = randomInt(random, 1, 8), m = randomInt(random, 1, 24);
    Problem problem = randomProblem(random, generator.name, p, m);
    spreadTimes(random, problem);
    ASSERT_TRUE(check(problem));
    runOne(generator, problem, counts);
  }
  EXPECT_GT(counts.valid, count / 5);
}

static std::vector<std::string_view> allNames() {
  std::vector<std::string_view> names;
  for (const Generator &generator : generators())
    names.push_back(generator.name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(Generators, Sweep, testing::ValuesIn(allNames()),
                         [](const auto &info) {
                           std::string name(info.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });
