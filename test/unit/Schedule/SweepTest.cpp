//===- SweepTest.cpp - every generator on random problems -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference.h"
#include "TestUtilities.h"

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
  for (int round = 0; round < 1500 && !HasFatalFailure(); ++round) {
    int p = randomInt(random, 1, 8), m = randomInt(random, 1, 24);
    Problem problem = randomProblem(random, generator.name, p, m);
    ASSERT_TRUE(check(problem));
    runOne(generator, problem, counts);
  }
  EXPECT_GT(counts.valid, 300);
  EXPECT_GT(counts.outOfMemory, 30);
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
