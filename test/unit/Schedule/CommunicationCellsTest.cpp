//===- CommunicationCellsTest.cpp - schedules with their messages ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Schedule/Formats/CommunicationCells.h"
#include "RandomSchedules.h"
#include "veeline/Schedule/Formats/Formats.h"
#include "veeline/Schedule/Recompute.h"

using namespace veeline::schedule;

/// Any placement, on a chain in which only the first chunk may owe nobody a
/// gradient.
static Problem randomChain(Random &random) {
  Problem problem = randomSmallProblem(random);
  problem.edges = chainEdges(problem.numChunks(), 0.5);
  for (int chunk = 1; chunk < problem.numChunks(); ++chunk)
    problem.chunks[chunk].hasBackwardInput = true;
  if (randomInt(random, 0, 2) > 0)
    return withRecomputeInside(problem);
  return problem;
}

// Random orders go out with messages and come back as they were, but for R,
// and the messages are right under NCCL's rules.
TEST(CommunicationCells, RoundTrips) {
  Random random = makeRandom();
  int written = 0, withBlocks = 0;
  for (int round = 0; round < 400; ++round) {
    Problem problem = randomChain(random);
    Schedule order = randomOrder(random, problem, /*ascending=*/true);
    if (round % 2)
      addBlocks(random, order);
    if (!verify(problem, order))
      continue;
    Expected<std::string> csv =
        communication::toCommunicationCsv(problem, order);
    ASSERT_TRUE(csv) << csv.error().str();
    ++written;
    withBlocks += csv->find("OVERLAP_F_B") != std::string::npos;
    Expected<ImportedSchedule> read = readCsv(*csv, "x.csv");
    ASSERT_TRUE(read) << read.error().str();
    EXPECT_FALSE(runsRecompute(read->schedule));
    if (!runsRecompute(order))
      EXPECT_EQ(toCsv(problem, read->schedule), toCsv(problem, order));
    auto cells = communication::readCommunicationCells(*csv, "x.csv");
    ASSERT_TRUE(cells) << cells.error().str() << "\n" << *csv;
    bool hasMessages = csv->find("SEND") != std::string::npos;
    ASSERT_EQ(cells->has_value(), hasMessages);
    if (!hasMessages)
      continue;
    auto error =
        communication::verify((*cells)->program, communication::Model::Nccl);
    EXPECT_FALSE(error) << communication::toText(**cells, *error) << *csv;
  }
  EXPECT_GT(written, 200);
  EXPECT_GT(withBlocks, 20);
}

TEST(CommunicationCells, WhatPyTorchCannotRun) {
  Problem problem = makeProblem("1f1b", 3, 1, 2);
  problem.edges.push_back(problem.edges[0]);
  problem.edges.back().to = 2;
  Expected<Schedule> schedule = generate("1f1b", problem);
  ASSERT_TRUE(schedule);
  Expected<std::string> csv =
      communication::toCommunicationCsv(problem, *schedule);
  ASSERT_FALSE(csv);
  EXPECT_EQ(csv.error().message,
            "communication cells lead from a chunk to the next one, and this "
            "schedule has a value from chunk 0 to chunk 2");
  problem.edges.pop_back();
  problem.chunks[1] = problem.chunks[1].withoutBackwardInput();
  csv = communication::toCommunicationCsv(problem, *schedule);
  ASSERT_FALSE(csv);
  EXPECT_EQ(csv.error().message,
            "communication cells have a gradient from each chunk to the one "
            "before it, and chunk 1 computes none for its input");
}
