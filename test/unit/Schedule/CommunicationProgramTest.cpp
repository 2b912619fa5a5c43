//===- CommunicationProgramTest.cpp - each error, each strategy -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommunicationPrograms.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>

using namespace veeline;
using namespace veeline::schedule::communication;

//===----------------------------------------------------------------------===//
// Small programs
//===----------------------------------------------------------------------===//

static Op send(int edge, int peer, int handle = -1) {
  return message(OpKind::Send, edge, peer, handle);
}
static Op receive(int edge, int peer, int handle = -1) {
  return message(OpKind::Receive, edge, peer, handle);
}
static Op ready(int edge) {
  Op op;
  op.kind = OpKind::Ready;
  op.message.edge = edge;
  return op;
}
static Op on(Op op, int stream, int communicator) {
  op.stream = stream;
  op.communicator = communicator;
  return op;
}
static Op grouped(Op op, int group = 0) {
  op.group = group;
  return op;
}
static Program makeProgram(std::vector<std::vector<Op>> ranks) {
  return {{{"tensor<2xf32>", 8}, {"tensor<4xf32>", 16}}, std::move(ranks)};
}

/// Expects an error of a program, under the rules of NCCL and of MPI unless
/// `models` says otherwise.
static void
expectError(const Program &program, ErrorKind kind, const std::string &text,
            const std::vector<Model> &models = {Model::Nccl, Model::Mpi}) {
  for (Model model : models)
    expectError(program, model, kind, text);
}

TEST(CommunicationProgram, AcceptsAnExchange) {
  Program program = makeProgram({{send(0, 1), receive(1, 1, 0), wait(0)},
                                 {receive(0, 0, 3), wait(3), send(1, 0)}});
  expectRight(program, Model::Nccl);
  expectRight(program, Model::Mpi);
}

static Op shape(Op op) {
  op.message.direction = Direction::Shape;
  return op;
}

TEST(CommunicationProgram, ShapesGoAhead) {
  Program program =
      makeProgram({{shape(send(0, 1)), send(0, 1)},
                   {shape(receive(0, 0, 0)), wait(0), receive(0, 0)}});
  expectRight(program, Model::Nccl);
  expectRight(program, Model::Mpi);
  // The place for a value may be posted before its shape is known, except with
  // NCCL, which receives as many elements as it is told.
  program.ranks[1] = {shape(receive(0, 0, 0)), receive(0, 0, 1), wait(0),
                      wait(1)};
  expectRight(program, Model::Mpi);
  expectError(program, ErrorKind::Shape,
              "rank 1, op 1: receive of edge 0 activation, microbatch 0, from "
              "rank 0 is received before its shape is known, which says how "
              "many elements to receive\n  rank 1, op 0: receive of edge 0 "
              "shape, microbatch 0, from rank 0 says the shape",
              {Model::Nccl});
}

TEST(CommunicationProgram, ValuesBeforeTheirShapes) {
  Program late =
      makeProgram({{send(0, 1), shape(send(0, 1))},
                   {receive(0, 0, 0), wait(0), shape(receive(0, 0))}});
  expectError(late, ErrorKind::Shape,
              "rank 0, op 0: send of edge 0 activation, microbatch 0, to rank "
              "1 is sent before its shape");
  // Operations of one group are at once: none is before another.
  Program grouping =
      makeProgram({{shape(send(0, 1)), send(0, 1)},
                   {grouped(shape(receive(0, 0))), grouped(receive(0, 0))}});
  expectError(grouping, ErrorKind::Shape, "before its shape is known");
  Program waiting = makeProgram(
      {{shape(send(0, 1)), send(0, 1)},
       {shape(receive(0, 0, 0)), receive(0, 0, 1), wait(1), wait(0)}});
  expectError(waiting, ErrorKind::Shape,
              "is waited for before its shape is known", {Model::Mpi});
}

TEST(CommunicationProgram, BothSendFirst) {
  Program program =
      makeProgram({{send(0, 1), receive(1, 1)}, {send(1, 0), receive(0, 0)}});
  expectError(program, ErrorKind::Deadlock,
              "rank 0, op 0: send of edge 0 activation, microbatch 0, to rank "
              "1 can wait for ever: 2 ranks wait for each other in a circle\n"
              "  rank 0, op 0: send of edge 0 activation, microbatch 0, to "
              "rank 1 waits for the receive of edge 0 activation, microbatch "
              "0, from rank 0 (op 1 of rank 1), which comes after what rank 1 "
              "is at\n"
              "  rank 1, op 0: send of edge 1 activation");
  // One group on either side is enough.
  for (int rank : {0, 1}) {
    Program fixed = program;
    for (Op &op : fixed.ranks[rank])
      op.group = 0;
    expectRight(fixed, Model::Nccl);
    expectRight(fixed, Model::Mpi);
  }
}

TEST(CommunicationProgram, ReceivesPostedAheadHoldUpSendsUnderNccl) {
  Program program = makeProgram({{receive(1, 1, 0), send(0, 1), wait(0)},
                                 {receive(0, 0, 0), send(1, 0), wait(0)}});
  expectError(program, ErrorKind::Deadlock, "2 ranks", {Model::Nccl});
  expectRight(program, Model::Mpi);
}

TEST(CommunicationProgram, ACircleOfThreeThatOthersWaitFor) {
  expectError(makeProgram({{receive(0, 1)},
                           {send(1, 2), receive(3, 3), send(0, 0)},
                           {send(2, 3), receive(1, 1)},
                           {send(3, 1), receive(2, 2)}}),
              ErrorKind::Deadlock, "3 ranks wait for each other in a circle");
}

TEST(CommunicationProgram, MemoryThatIsOfferedTooLate) {
  // Each computes into the other's memory, and offers its own afterwards.
  expectError(makeProgram({{ready(0), send(0, 1), receive(1, 1)},
                           {ready(1), send(1, 0), receive(0, 0)}}),
              ErrorKind::Deadlock, "wait for the receiver's memory",
              {Model::Mpi});
  expectError(makeProgram({{send(0, 1), ready(0)}, {receive(0, 0)}}),
              ErrorKind::Malformed, "stands before no send");
}

TEST(CommunicationProgram, EndsThatDoNotFit) {
  expectError(makeProgram({{send(0, 1)}, {}}), ErrorKind::Unmatched,
              "has no receive");
  expectError(makeProgram({{}, {receive(0, 0)}}), ErrorKind::Unmatched,
              "has no send");
  expectError(makeProgram({{send(0, 2)}, {receive(0, 0)}, {}}),
              ErrorKind::Mismatch,
              "goes from rank 0 to rank 2, but is received by rank 1");
  expectError(makeProgram({{send(0, 1)}, {on(receive(0, 0), 0, 1)}}),
              ErrorKind::Mismatch, "but is received on communicator 1");
  Op other = receive(0, 0);
  other.type = 1;
  expectError(makeProgram({{send(0, 1)}, {other}}), ErrorKind::Type,
              "is of type tensor<2xf32> (8 bytes), but is received as "
              "tensor<4xf32> (16 bytes)");
}

static Op reduce(int param, int communicator = 0, int handle = -1) {
  Op op;
  op.kind = OpKind::AllReduce;
  op.reduction.param = param;
  op.communicator = communicator;
  op.handle = handle;
  return op;
}

TEST(CommunicationProgram, AllReducesOfOneOrder) {
  Program program = makeProgram(
      {{reduce(0), reduce(1)}, {reduce(0), reduce(1)}, {reduce(0), reduce(1)}});
  expectRight(program, Model::Nccl);
  expectRight(program, Model::Mpi);
  std::swap(program.ranks[1][0], program.ranks[1][1]);
  expectError(program, ErrorKind::Crossed,
              "rank 1, op 0: all-reduce of chunk 0, parameter 1, on "
              "communicator 0 is number 0 of its rank's on that communicator, "
              "which goes with number 0 of the other ranks'\n"
              "  rank 0, op 0: all-reduce of chunk 0, parameter 0");
  program = makeProgram({{reduce(0), reduce(1)}, {reduce(0)}});
  expectError(program, ErrorKind::Unmatched,
              "waits for ever for rank 1, which issues 1 on that communicator");
  program.ranks[1].push_back(reduce(1));
  program.ranks[1].back().type = 1;
  expectError(program, ErrorKind::Type,
              "is of type tensor<4xf32>, but of type tensor<2xf32> on rank 0");
}

TEST(CommunicationProgram, AllReducesOfSomeRanks) {
  // Ranks 0 and 2 add up, rank 1 does not belong to them.
  Program program = makeProgram(
      {{reduce(0, 1), send(0, 1)}, {receive(0, 0)}, {reduce(0, 1)}});
  program.communicators = {{}, {0, 2}};
  expectRight(program, Model::Nccl);
  expectRight(program, Model::Mpi);
  program.ranks[1].push_back(reduce(0, 1));
  expectError(program, ErrorKind::Malformed,
              "is on communicator 1, to which rank 1 does not belong");
  program.ranks[1].back() = on(send(1, 2), 0, 1);
  expectError(program, ErrorKind::Malformed, "to which rank 1 does not belong");
}

TEST(CommunicationProgram, AllReducesAndMessagesInACircle) {
  // Rank 1 wants the message before it adds up, rank 0 sends it afterwards.
  Program program =
      makeProgram({{reduce(0), send(0, 1)}, {receive(0, 0), reduce(0)}});
  expectError(program, ErrorKind::Deadlock,
              "rank 0, op 0: all-reduce of chunk 0, parameter 0, on "
              "communicator 0 waits for the all-reduce of chunk 0, parameter "
              "0, on communicator 0 (op 1 of rank 1)");
  // Under MPI's rules, an all-reduce that is waited for later holds up nobody.
  program = makeProgram(
      {{reduce(0, 0, 0), send(0, 1), wait(0)}, {receive(0, 0), reduce(0)}});
  expectError(program, ErrorKind::Deadlock, "2 ranks", {Model::Nccl});
  expectRight(program, Model::Mpi);
  // On a stream and a communicator of its own, it may be under way together
  // with the message.
  program.ranks[0][0].stream = 1;
  program.ranks[0][0].communicator = program.ranks[1][1].communicator = 1;
  expectError(program, ErrorKind::AtOnce, "may be under way at once",
              {Model::Nccl});
}

TEST(CommunicationProgram, IdentitiesAreOfOneMessageEach) {
  expectError(
      makeProgram({{send(0, 1), send(0, 1)}, {receive(0, 0), receive(0, 0)}}),
      ErrorKind::Duplicate, "has the identity of another message");
  // Fields, not one number: no two of these are the same.
  Op a = send(1, 1), b = send(0, 1);
  a.message.microbatch = 0;
  b.message.microbatch = 100000;
  Op c = receive(1, 0), d = receive(0, 0);
  d.message.microbatch = 100000;
  expectRight(makeProgram({{a, b}, {c, d}}), Model::Mpi);
}

/// Splits every message into `parts` parts.
static Program split(const Program &program, int parts) {
  return splitMessages(program, [=](const Op &) { return parts; }).program;
}

TEST(CommunicationProgram, PartsAreMessagesOfOneOrder) {
  Program whole = makeProgram(
      {{ready(0), grouped(send(0, 1)), grouped(receive(1, 1, 7)), wait(7)},
       {receive(0, 0, 3), send(1, 0), wait(3)}});
  SplitProgram two = splitMessages(
      whole, [](const Op &op) { return op.message.edge == 0 ? 2 : 1; });
  // The Ready and the send for each part, and one wait for each receive.
  EXPECT_EQ(two.origins, (std::vector<std::vector<int>>{{0, 0, 1, 1, 2, 3},
                                                        {0, 0, 1, 2, 2}}));
  std::vector<Op> &ops = two.program.ranks[1];
  EXPECT_EQ(ops[0].message.part, 0);
  EXPECT_EQ(ops[1].message.part, 1);
  EXPECT_EQ(ops[2].message.part, -1);
  EXPECT_NE(ops[0].handle, ops[1].handle);
  EXPECT_EQ(ops[3].handle, ops[0].handle);
  EXPECT_EQ(ops[4].handle, ops[1].handle);
  EXPECT_EQ(two.program.ranks[0][3].group, 0);
  expectRight(two.program, Model::Mpi);

  // The receiver takes them in another order.
  std::swap(ops[0], ops[1]);
  expectError(two.program, ErrorKind::Crossed, "edge 0 activation",
              {Model::Nccl});
  expectRight(two.program, Model::Mpi);
  std::swap(ops[0], ops[1]);
  // It takes one of them twice.
  ops[1].message.part = 0;
  expectError(two.program, ErrorKind::Duplicate,
              "receive of edge 0 activation, microbatch 0, part 0, from rank 0 "
              "has the identity of another message");
  // It takes the message as a whole.
  ops = whole.ranks[1];
  expectError(two.program, ErrorKind::Unmatched, "has no send");
}

TEST(CommunicationProgram, PartsCanDeadlock) {
  Program program =
      makeProgram({{send(0, 1), receive(1, 1)}, {receive(0, 0), send(1, 0)}});
  for (Model model : {Model::Nccl, Model::Mpi})
    expectRight(split(program, 3), model);
  // The second part is wanted before the answer, and sent after it.
  Program crossed = split(program, 2);
  std::swap(crossed.ranks[0][1], crossed.ranks[0][2]);
  expectError(crossed, ErrorKind::Deadlock,
              "waits for the send of edge 0 activation, microbatch 0, part 1, "
              "to rank 1");
}

TEST(CommunicationProgram, EveryPartComesAfterItsShape) {
  Program program = makeProgram(
      {{shape(send(0, 1)), send(0, 1)},
       {shape(receive(0, 0, 0)), receive(0, 0, 1), wait(0), wait(1)}});
  auto partsOf = [](const Op &op) {
    return op.message.direction == Direction::Shape ? 1 : 3;
  };
  Program right = splitMessages(program, partsOf).program;
  expectRight(right, Model::Mpi);
  // The last part is waited for before the shape is.
  std::vector<Op> &ops = right.ranks[1];
  std::rotate(ops.begin() + 4, ops.end() - 1, ops.end());
  expectError(right, ErrorKind::Shape,
              "part 2, from rank 0 is waited for before its shape is known",
              {Model::Mpi});
}

TEST(CommunicationProgram, WithoutTagsTheOrderSaysWhichIsWhich) {
  Program program =
      makeProgram({{grouped(send(0, 1)), grouped(send(1, 1))},
                   {grouped(receive(1, 0)), grouped(receive(0, 0))}});
  expectError(program, ErrorKind::Crossed, "which without tags takes message",
              {Model::Nccl});
  expectRight(program, Model::Mpi);
}

TEST(CommunicationProgram, TwoStreamsAtOnce) {
  // The case of two communicators on two streams: each may run first.
  auto program = [](bool waits) {
    std::vector<Op> a{on(receive(0, 1, 0), 1, 0)}, b{on(send(0, 0, 0), 1, 0)};
    for (std::vector<Op> *ops : {&a, &b})
      if (waits)
        ops->push_back(wait(0));
    a.push_back(on(send(1, 1, 1), 2, 1));
    b.push_back(on(receive(1, 0, 1), 2, 1));
    for (std::vector<Op> *ops : {&a, &b}) {
      if (!waits)
        ops->push_back(wait(0));
      ops->push_back(wait(1));
    }
    return makeProgram({a, b});
  };
  expectError(program(false), ErrorKind::AtOnce, "may be under way at once",
              {Model::Nccl});
  expectRight(program(false), Model::Mpi);
  expectRight(program(true), Model::Nccl);
}

TEST(CommunicationProgram, HandlesAreWaitedForOnce) {
  auto receiver = [](std::vector<Op> ops) {
    return makeProgram({{send(0, 1)}, std::move(ops)});
  };
  expectError(receiver({receive(0, 0, 0)}), ErrorKind::Handle,
              "makes a handle that nothing waits for");
  expectError(receiver({receive(0, 0, 0), wait(0), wait(0)}), ErrorKind::Handle,
              "waits for a handle a second time");
  expectError(receiver({wait(0), receive(0, 0, 0)}), ErrorKind::Handle,
              "that nothing before it makes");
}

TEST(CommunicationProgram, GroupsAreOneRunOnOneStream) {
  expectError(makeProgram({{grouped(send(0, 1)), wait(0), grouped(send(1, 1))},
                           {receive(0, 0), receive(1, 0)}}),
              ErrorKind::Group, "goes on with a group that has ended");
  expectError(makeProgram({{grouped(send(0, 1)), grouped(on(send(1, 1), 1, 0))},
                           {receive(0, 0), receive(1, 0)}}),
              ErrorKind::Group, "is on another stream or communicator");
}

TEST(CommunicationProgram, WhatCannotBe) {
  expectError(makeProgram({{send(0, 0)}}), ErrorKind::Malformed,
              "names its own rank");
  expectError(makeProgram({{send(0, 1)}}), ErrorKind::Malformed,
              "names rank 1, but there are 1");
  expectError(makeProgram({{send(-1, 1)}, {}}), ErrorKind::Malformed,
              "negative edge");
  expectError(makeProgram({{on(send(0, 1), -1, 0)}, {}}), ErrorKind::Malformed,
              "negative stream");
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

/// One rank on a line: "C" a computation, "F0>1" a send of the activation of
/// microbatch 0 to rank 1, "B0<1" a receive of a gradient; groups in brackets,
/// waits left out.
static std::string lineOf(const std::vector<Op> &ops) {
  std::string line;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const Op &op = ops[i];
    if (op.kind == OpKind::Wait)
      continue;
    line += line.empty() ? "" : " ";
    if (!op.isMessage()) {
      line += op.kind == OpKind::Compute ? "C" : "R";
      continue;
    }
    bool begins = op.group >= 0 && (i == 0 || ops[i - 1].group != op.group);
    bool ends =
        op.group >= 0 && (i + 1 == ops.size() || ops[i + 1].group != op.group);
    line += begins ? "[" : "";
    line += op.message.direction == Direction::Gradient ? "B" : "F";
    line += std::to_string(op.message.microbatch) +
            (op.kind == OpKind::Send ? ">" : "<") + std::to_string(op.peer) +
            (ends ? "]" : "");
  }
  return line;
}

static std::vector<std::string> planLines(const char *name, int p, int v, int m,
                                          Strategy strategy, Model model) {
  schedule::Problem problem = schedule::makeProblem(name, p, v, m);
  auto schedule = schedule::generate(name, problem);
  EXPECT_TRUE(schedule);
  auto traffic = trafficOf(problem, *schedule);
  EXPECT_TRUE(traffic);
  auto program = plan(*traffic, strategy, model);
  EXPECT_TRUE(program);
  expectRight(*program, model);
  std::vector<std::string> lines;
  for (const std::vector<Op> &ops : program->ranks)
    lines.push_back(lineOf(ops));
  return lines;
}

using schedule::Lines;

TEST(CommunicationPlan, EvenRanksSendFirst) {
  EXPECT_EQ(planLines("1f1b", 2, 1, 3, Strategy::PointToPoint, Model::Nccl),
            (Lines{"C F0>1 C F1>1 B0<1 C C F2>1 B1<1 C B2<1 C",
                   "F0<0 C C F1<0 B0>0 C C F2<0 B1>0 C C B2>0"}));
}

TEST(CommunicationPlan, ASendAndAReceiveAreOneGroup) {
  EXPECT_EQ(planLines("1f1b", 2, 1, 3, Strategy::Batched, Model::Nccl),
            (Lines{"C F0>1 C [F1>1 B0<1] C C [F2>1 B1<1] C B2<1 C",
                   "F0<0 C C [F1<0 B0>0] C C [F2<0 B1>0] C C B2>0"}));
}

TEST(CommunicationPlan, BothNeighboursAtOnce) {
  // Rank 1 receives from both and sends to both between two computations.
  Lines lines = planLines("gpipe", 3, 1, 3, Strategy::Ring, Model::Nccl);
  EXPECT_EQ(lines[1], "F0<0 C [F1<0 F0>2] C [F2<0 F1>2] C [F2>2 B0<2] C "
                      "[B0>0 B1<2] C [B1>0 B2<2] C B2>0");
}

TEST(CommunicationPlan, ReceivesArePostedAhead) {
  // Both gradients come while rank 0 computes its first backward, or before.
  EXPECT_EQ(
      planLines("1f1b", 2, 1, 2, Strategy::Overlap, Model::Mpi),
      (Lines{"C F0>1 C B0<1 B1<1 F1>1 C C", "F0<0 F1<0 C C B0>0 C C B1>0"}));
  // A receive would hold up the sends after it.
  EXPECT_EQ(
      planLines("1f1b", 2, 1, 2, Strategy::Overlap, Model::Nccl),
      (Lines{"C F0>1 C F1>1 B0<1 B1<1 C C", "F0<0 F1<0 C C B0>0 C C B1>0"}));
}

TEST(CommunicationPlan, PositionsOnThePathOfAnEdge) {
  for (int a = 0; a < 12; ++a)
    for (int b = 0; b < 12; ++b)
      if (a != b) {
        EXPECT_NE(isEven(a, b), isEven(b, a)) << a << ' ' << b;
      }
  EXPECT_TRUE(isEven(0, 1));
  EXPECT_FALSE(isEven(1, 0));
  EXPECT_TRUE(isEven(2, 3));
}

TEST(CommunicationPlan, NamesAreRead) {
  for (Strategy strategy :
       {Strategy::PointToPoint, Strategy::Batched, Strategy::Ring,
        Strategy::Overlap, Strategy::Duplex})
    EXPECT_EQ(parseStrategy(toString(strategy)), strategy);
  EXPECT_FALSE(parseStrategy("p3p"));
  for (Model model : {Model::Nccl, Model::Mpi, Model::NcclDuplex})
    EXPECT_EQ(parseModel(toString(model)), model);
  EXPECT_FALSE(parseModel("tcp"));
}

/// Every schedule by name, under every strategy and model but for Duplex, which
/// has tests of its own.
TEST(CommunicationPlan, AllSchedules) {
  for (const schedule::Generator &generator : schedule::generators())
    for (int p : {2, 3, 4})
      for (int m : {p, 2 * p}) {
        schedule::Problem problem = schedule::makeProblem(
            generator.name, p, generator.minChunksPerStage, m);
        auto schedule =
            schedule::generate(generator.name, problem, schedule::quickly());
        ASSERT_TRUE(schedule) << schedule.error().str();
        auto traffic = trafficOf(problem, *schedule);
        ASSERT_TRUE(traffic);
        for (auto strategy : {Strategy::PointToPoint, Strategy::Batched,
                              Strategy::Ring, Strategy::Overlap})
          for (Model model : {Model::Nccl, Model::Mpi, Model::NcclDuplex}) {
            auto program = plan(*traffic, strategy, model);
            ASSERT_TRUE(program);
            SCOPED_TRACE(std::string(generator.name) + " " +
                         toString(strategy) + " " + toString(model));
            expectRight(*program, model);
            // What is made for NCCL is right under MPI's rules too.
            expectRight(*program, Model::Mpi);
          }
      }
}

/// VEELINE_VERIFIER_TIMES in the environment prints times of p = 8 to 64.
TEST(CommunicationPlan, NearLinear) {
  bool isLong = std::getenv("VEELINE_VERIFIER_TIMES");
  for (int p : isLong ? std::vector{8, 16, 32, 64} : std::vector{64})
    for (int m : isLong ? std::vector{64, 256, 1024} : std::vector{128}) {
      schedule::Problem problem = schedule::makeProblem("zb-v", p, 2, m);
      auto schedule = schedule::generate("zb-v", problem);
      ASSERT_TRUE(schedule);
      auto traffic = trafficOf(problem, *schedule);
      ASSERT_TRUE(traffic);
      for (auto [strategy, model] : std::vector<std::pair<Strategy, Model>>{
               {Strategy::Batched, Model::Nccl},
               {Strategy::Batched, Model::Mpi},
               {Strategy::Overlap, Model::Nccl},
               {Strategy::Overlap, Model::Mpi},
               {Strategy::Duplex, Model::NcclDuplex}}) {
        auto program = plan(*traffic, strategy, model);
        ASSERT_TRUE(program);
        std::size_t ops = 0;
        for (const std::vector<Op> &rank : program->ranks)
          ops += rank.size();
        std::clock_t begin = std::clock();
        expectRight(*program, model);
        double seconds =
            static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        // Far more than it takes, far less than what is quadratic.
        EXPECT_LT(seconds, 20);
        std::printf("p %2d, v 2, m %4d, %-8s %-11s %8zu ops %8.3f s\n", p, m,
                    toString(strategy), toString(model), ops, seconds);
      }
    }
}
