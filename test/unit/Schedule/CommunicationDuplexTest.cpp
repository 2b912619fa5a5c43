//===- CommunicationDuplexTest.cpp - sends and receives side by side ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommunicationPrograms.h"

#include <algorithm>
#include <set>

using namespace veeline;
using namespace veeline::schedule::communication;
using schedule::Random;
using schedule::randomInt;

//===----------------------------------------------------------------------===//
// Small programs
//===----------------------------------------------------------------------===//

/// A message with the number of its edge as its handle.
static Op transfer(OpKind kind, int edge, int peer, int communicator) {
  Op op = message(kind, edge, peer, edge);
  op.stream = kind == OpKind::Send ? sendStream : receiveStream;
  op.communicator = communicator;
  return op;
}
static Op send(int edge, int peer, int communicator) {
  return transfer(OpKind::Send, edge, peer, communicator);
}
static Op receive(int edge, int peer, int communicator) {
  return transfer(OpKind::Receive, edge, peer, communicator);
}
static Op withoutHandle(Op op) {
  op.handle = -1;
  return op;
}
static Op onStream(int stream, Op op) {
  op.stream = stream;
  return op;
}

static Program makeProgram(std::vector<std::vector<Op>> ranks) {
  return {{{"tensor<2xf32>", 8}}, std::move(ranks)};
}

/// Both post a receive ahead and then send, each on its own communicator.
static Program exchange(int ofFirst, int ofSecond) {
  return makeProgram(
      {{receive(1, 1, ofSecond), send(0, 1, ofFirst), wait(0), wait(1)},
       {receive(0, 0, ofFirst), send(1, 0, ofSecond), wait(0), wait(1)}});
}

TEST(CommunicationDuplex, ReceivesPostedAheadHoldUpNoSends) {
  expectRight(exchange(1, 2), Model::NcclDuplex);
  expectRight(exchange(1, 2), Model::Mpi);
  expectError(exchange(1, 2), Model::Nccl, ErrorKind::AtOnce,
              "wait for the first in between; the rules of nccl-duplex, for "
              "devices that have room for both, let streams 1 and 2 run side "
              "by side\n  rank 0, op 0: receive of edge 1");
}

TEST(CommunicationDuplex, OneCommunicatorSerialises) {
  expectError(exchange(1, 1), Model::NcclDuplex, ErrorKind::Deadlock,
              "2 ranks wait for each other in a circle\n"
              "  rank 0, op 1: send of edge 0 activation, microbatch 0, to "
              "rank 1 waits for the receive of edge 1 activation, microbatch "
              "0, from rank 1 (op 0 of its own rank) to be over\n"
              "  rank 0, op 0: receive of edge 1 activation, microbatch 0, "
              "from rank 1 waits for the send of edge 1 activation, "
              "microbatch 0, to rank 0 (op 1 of rank 1), which comes after "
              "what rank 1 is at\n"
              "  rank 1, op 1");
}

TEST(CommunicationDuplex, OneStreamSerialises) {
  Program program = exchange(1, 2);
  for (std::vector<Op> &ops : program.ranks)
    for (Op &op : ops)
      op.stream = op.isTransfer() ? sendStream : op.stream;
  expectError(program, Model::NcclDuplex, ErrorKind::Deadlock,
              "wait for each other in a circle");
  expectError(program, Model::Nccl, ErrorKind::Deadlock,
              "wait for each other in a circle");
}

/// Of any other two streams, the device may run one unit at a time.
TEST(CommunicationDuplex, RoomIsForTwoStreams) {
  for (int stream : {3, 4}) {
    Program program = exchange(1, 2);
    program.ranks[0][1].stream = stream;
    expectError(program, Model::NcclDuplex, ErrorKind::AtOnce,
                "or wait for the first in between\n");
  }
  // A third unit has to wait for both.
  Program program = exchange(1, 2);
  program.ranks[0].insert(program.ranks[0].begin() + 3,
                          onStream(3, send(2, 1, 4)));
  program.ranks[0].push_back(wait(2));
  program.ranks[1].push_back(onStream(3, receive(2, 0, 4)));
  program.ranks[1].push_back(wait(2));
  expectError(program, Model::NcclDuplex, ErrorKind::AtOnce,
              "rank 0, op 3: send of edge 2");
  std::rotate(program.ranks[0].begin() + 3, program.ranks[0].begin() + 4,
              program.ranks[0].begin() + 5);
  expectRight(program, Model::NcclDuplex);
}

TEST(CommunicationDuplex, ReceivesInAnotherOrder) {
  // Rank 0 sends to rank 1, rank 1 passes that on to rank 2, and rank 2 tells
  // rank 0. Rank 2 receives from both.
  Program program =
      makeProgram({{send(0, 1, 1), receive(2, 2, 3), wait(2), send(3, 2, 1),
                    wait(0), wait(3)},
                   {receive(0, 0, 1), wait(0), send(1, 2, 2), wait(1)},
                   {receive(1, 1, 2), receive(3, 0, 1), wait(1), send(2, 0, 3),
                    wait(2), wait(3)}});
  expectRight(program, Model::NcclDuplex);
  std::swap(program.ranks[2][0], program.ranks[2][1]);
  expectError(program, Model::NcclDuplex, ErrorKind::Deadlock,
              "2 ranks wait for each other in a circle\n"
              "  rank 0, op 2: wait for handle 2 waits for the receive of edge "
              "2 activation, microbatch 0, from rank 2 (op 1 of its own rank) "
              "to be over");
}

/// Who waits for one message of a group waits for all of it.
TEST(CommunicationDuplex, GroupsEndAsAWhole) {
  Program program = makeProgram({{receive(0, 1, 2), receive(1, 1, 2), wait(0),
                                  send(2, 1, 1), wait(1), wait(2)},
                                 {send(0, 0, 2), receive(2, 0, 1), wait(2),
                                  send(1, 0, 2), wait(0), wait(1)}});
  expectRight(program, Model::NcclDuplex);
  program.ranks[0][0].group = program.ranks[0][1].group = 0;
  expectError(program, Model::NcclDuplex, ErrorKind::Deadlock, "in a circle");
}

TEST(CommunicationDuplex, WhatIsWaitedForRightThere) {
  Program program = exchange(1, 2);
  // Each send is waited for right there. Its receive is posted before the send
  // of the other rank.
  for (std::vector<Op> &ops : program.ranks) {
    int edge = ops[1].handle;
    ops[1] = withoutHandle(ops[1]);
    std::erase_if(ops, [&](const Op &op) {
      return op.kind == OpKind::Wait && op.handle == edge;
    });
  }
  expectRight(program, Model::NcclDuplex);
  for (std::vector<Op> &ops : program.ranks)
    std::swap(ops[0], ops[1]);
  expectError(program, Model::NcclDuplex, ErrorKind::Deadlock,
              "receive of edge 1 activation, microbatch 0, from rank 1 waits "
              "for the send of edge 0 activation, microbatch 0, to rank 1 (op "
              "0 of its own rank) to be over");
  expectError(program, Model::Mpi, ErrorKind::Deadlock, "in a circle");
}

//===----------------------------------------------------------------------===//
// Plans
//===----------------------------------------------------------------------===//

static Traffic trafficBetween(int ranks,
                              const std::vector<std::pair<int, int>> &pairs) {
  Traffic traffic;
  traffic.ranks.resize(ranks);
  for (auto [source, target] : pairs)
    traffic.messages.push_back({{}, 0, source, target, 1, 0});
  return traffic;
}

TEST(CommunicationDuplex, Colours) {
  using Colours = std::vector<int>;
  EXPECT_EQ(colourRanks(trafficBetween(4, {{0, 1}, {1, 2}, {3, 2}})),
            (Colours{0, 1, 0, 1}));
  EXPECT_EQ(colourRanks(trafficBetween(3, {{0, 1}, {1, 2}, {2, 0}})),
            (Colours{0, 1, 2}));
  EXPECT_EQ(colourRanks(trafficBetween(4, {{0, 1}, {2, 3}, {1, 2}, {0, 3}})),
            (Colours{0, 1, 0, 1}));
  // A skip edge over a rank.
  EXPECT_EQ(colourRanks(trafficBetween(3, {{0, 1}, {1, 2}, {0, 2}, {2, 1}})),
            (Colours{0, 1, 2}));
  EXPECT_EQ(colourRanks(trafficBetween(2, {})), (Colours{0, 0}));
}

/// Sends of a rank are on one stream and communicator, receives are on another
/// one of each.
static void expectSeparate(const Program &program, int freeCommunicator) {
  for (const std::vector<Op> &ops : program.ranks) {
    std::set<int> sent, received;
    for (const Op &op : ops) {
      if (!op.isMessage())
        continue;
      bool isSend = op.kind == OpKind::Send;
      EXPECT_EQ(op.stream, isSend ? sendStream : receiveStream);
      EXPECT_GE(op.communicator, freeCommunicator);
      (isSend ? sent : received).insert(op.communicator);
    }
    EXPECT_LE(sent.size(), 1u);
    for (int communicator : sent)
      EXPECT_FALSE(received.contains(communicator));
  }
}

/// How many receives are posted with a send behind them before the receive is
/// waited for: what no order on one stream has.
static int countAhead(const Program &program) {
  int count = 0;
  for (const std::vector<Op> &ops : program.ranks) {
    std::set<int> posted;
    bool isSending = false;
    for (const Op &op : ops) {
      if (op.kind == OpKind::Receive)
        posted.insert(op.handle);
      if (op.kind == OpKind::Send && !posted.empty())
        isSending = true;
      if (op.kind == OpKind::Wait && posted.erase(op.handle) && isSending)
        ++count;
      if (posted.empty())
        isSending = false;
    }
  }
  return count;
}

TEST(CommunicationDuplex, AllSchedules) {
  for (const schedule::Generator &generator : schedule::generators())
    for (int p : {2, 3, 4})
      for (int m : {p, 3 * p}) {
        schedule::Problem problem = schedule::makeProblem(
            generator.name, p, generator.minChunksPerStage, m);
        auto schedule =
            schedule::generate(generator.name, problem, schedule::quickly());
        ASSERT_TRUE(schedule) << schedule.error().str();
        auto traffic = trafficOf(problem, *schedule);
        ASSERT_TRUE(traffic);
        EXPECT_EQ(traffic->freeCommunicator, 1 + p);
        auto program = plan(*traffic, Strategy::Duplex, Model::NcclDuplex);
        ASSERT_TRUE(program);
        SCOPED_TRACE(generator.name);
        expectSeparate(*program, 1 + p);
        expectRight(*program, Model::NcclDuplex);
        expectRight(*program, Model::Mpi);
        // Under the rules of NCCL, whatever is posted ahead of a send is too
        // much.
        std::optional<Error> error = verify(*program, Model::Nccl);
        if (countAhead(*program) > 0) {
          ASSERT_TRUE(error);
          EXPECT_EQ(error->kind, ErrorKind::AtOnce);
        }
        // Two colours, but for a ring of three.
        std::vector<int> colours = colourRanks(*traffic);
        EXPECT_LE(*std::max_element(colours.begin(), colours.end()),
                  p == 3 ? 2 : 1);
      }
}

TEST(CommunicationDuplex, ReceivesArePostedAhead) {
  schedule::Problem problem = schedule::makeProblem("zb-v", 4, 2, 8);
  auto schedule = schedule::generate("zb-v", problem);
  ASSERT_TRUE(schedule);
  auto traffic = trafficOf(problem, *schedule);
  ASSERT_TRUE(traffic);
  auto program = plan(*traffic, Strategy::Duplex, Model::NcclDuplex);
  ASSERT_TRUE(program);
  int messages = static_cast<int>(traffic->messages.size());
  EXPECT_GT(countAhead(*program), messages / 4) << messages;
  // The strategy has its own rules, whatever model is asked for.
  EXPECT_EQ(plan(*traffic, Strategy::Duplex, Model::Nccl)->ranks,
            program->ranks);
  EXPECT_EQ(plan(*traffic, Strategy::Duplex, Model::Mpi)->ranks,
            program->ranks);
}

/// Pipelines with skip edges, shapes, shared parameters and stages of several
/// ranks: two ranks that exchange messages have different colours.
TEST(CommunicationDuplex, RandomPipelines) {
  Random random = schedule::makeRandom();
  int most = 0;
  for (int round = 0; round < 400; ++round) {
    Pipeline pipeline = randomPipeline(random, randomInt(random, 3, 7), 5);
    auto program = plan(pipeline.traffic, Strategy::Duplex, Model::NcclDuplex);
    ASSERT_TRUE(program);
    expectSeparate(*program, 1);
    expectRight(*program, Model::NcclDuplex);
    std::vector<int> colours = colourRanks(pipeline.traffic);
    for (int colour : colours)
      most = std::max(most, colour + 1);
  }
  EXPECT_GE(most, 3);
  EXPECT_LE(most, 7);
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

/// The plan of 1F1B on four ranks, damaged.
static Program damagedProgram(const std::function<void(Program &)> &damage) {
  schedule::Problem problem = schedule::makeProblem("1f1b", 4, 1, 6);
  auto schedule = schedule::generate("1f1b", problem);
  auto traffic = trafficOf(problem, *schedule);
  auto program = plan(*traffic, Strategy::Duplex, Model::NcclDuplex);
  damage(*program);
  return *program;
}

static std::vector<Op *> allOf(std::vector<Op> &ops, OpKind kind) {
  std::vector<Op *> found;
  for (Op &op : ops)
    if (op.kind == kind)
      found.push_back(&op);
  return found;
}

TEST(CommunicationDuplex, DamagedPlans) {
  // Rank 1 receives its first gradient before its first activation.
  expectError(damagedProgram([](Program &program) {
                std::vector<Op> &ops = program.ranks[1];
                auto gradient =
                    std::find_if(ops.begin(), ops.end(), [](const Op &op) {
                      return op.kind == OpKind::Receive &&
                             op.message.direction == Direction::Gradient;
                    });
                ASSERT_NE(gradient, ops.end());
                std::rotate(ops.begin(), gradient, gradient + 1);
              }),
              Model::NcclDuplex, ErrorKind::Deadlock, "in a circle");
  // One of its sends on the communicator of what it receives.
  expectError(damagedProgram([](Program &program) {
                Op &send = *allOf(program.ranks[1], OpKind::Send)[1];
                send.communicator =
                    allOf(program.ranks[1], OpKind::Receive)[0]->communicator;
              }),
              Model::NcclDuplex, ErrorKind::Mismatch,
              "is received on communicator");
  // All messages on one communicator: they run one after the other, with
  // receives ahead.
  expectError(damagedProgram([](Program &program) {
                for (std::vector<Op> &ops : program.ranks)
                  for (Op &op : ops)
                    op.communicator = 0;
              }),
              Model::NcclDuplex, ErrorKind::Deadlock, "in a circle");
  // The same with all messages on one stream.
  expectError(damagedProgram([](Program &program) {
                for (std::vector<Op> &ops : program.ranks)
                  for (Op &op : ops)
                    op.stream = op.isMessage() ? receiveStream : op.stream;
              }),
              Model::NcclDuplex, ErrorKind::Deadlock, "in a circle");
}
