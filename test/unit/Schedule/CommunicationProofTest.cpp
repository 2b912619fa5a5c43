//===- CommunicationProofTest.cpp - the verifier against an execution -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Rounds.h"
#include "CommunicationModel.h"
#include "CommunicationPrograms.h"

#include <algorithm>
#include <map>

using namespace veeline;
using namespace veeline::schedule::communication;
using schedule::Random;
using schedule::randomInt;

static int numPrograms() { return test::rounds(3000); }

namespace {
struct Sample {
  Program program;
  Model model;
  bool isDamaged;
  bool isSmall;
  bool isSplit, isDuplex;
  /// Stages of several ranks; whether two stages have a parameter in common.
  bool isWide, hasParams;
  int replicas = 1;
};

/// How many programs of each class there were.
class Counts {
public:
  void add(const std::string &name) { ++counts[name]; }
  int operator[](const std::string &name) { return counts[name]; }
  void print() const {
    for (const auto &[name, count] : counts)
      std::printf("%9d  %s\n", count, name.c_str());
  }

private:
  std::map<std::string, int> counts;
};
} // namespace

static Sample randomSample(Random &random) {
  Sample sample;
  sample.isSmall = randomInt(random, 0, 7) != 0;
  Pipeline pipeline = sample.isSmall ? randomPipeline(random, 3, 2)
                                     : randomPipeline(random, 5, 6);
  sample.isWide = !pipeline.widths.empty();
  sample.hasParams = pipeline.hasParams;
  sample.model = static_cast<Model>(randomInt(random, 0, 2));
  // Some programs are made for another model.
  Model made = randomInt(random, 0, 9) == 0
                   ? static_cast<Model>(randomInt(random, 0, 2))
                   : sample.model;
  pipeline.traffic.freeCommunicator =
      1 + static_cast<int>(pipeline.widths.empty()
                               ? pipeline.traffic.ranks.size()
                               : pipeline.widths.size());
  Strategy strategy = randomStrategy(random);
  sample.isDuplex = strategy == Strategy::Duplex;
  auto program = plan(pipeline.traffic, strategy, made);
  EXPECT_TRUE(program);
  sample.program = std::move(*program);
  sample.isSplit = randomInt(random, 0, 3) == 0;
  if (sample.isSplit)
    splitSome(random, sample.program);
  if (randomInt(random, 0, 2) == 0)
    sample.replicas = randomInt(random, 2, 3);
  if (sample.isWide || sample.replicas > 1)
    replicate(random, sample.program, pipeline, sample.replicas, made);
  int damages = std::max(0, randomInt(random, -1, 3));
  // A plan for devices that have room for two needs that room, unless it has no
  // receive that a send could meet.
  sample.isDamaged = damages > 0 || made != sample.model ||
                     (sample.isDuplex && sample.model == Model::Nccl);
  for (; damages > 0; --damages)
    damage(random, sample.program, randomDamage(random));
  return sample;
}

/// Whether there is a Ready, which only shared memory has.
static bool hasReady(const Program &program) {
  return std::ranges::any_of(program.ranks, [](const std::vector<Op> &ops) {
    return std::ranges::any_of(
        ops, [](const Op &op) { return op.kind == OpKind::Ready; });
  });
}

static bool hasShapes(const Program &program) {
  for (const std::vector<Op> &ops : program.ranks)
    for (const Op &op : ops)
      if (op.isMessage() && op.message.direction == Direction::Shape)
        return true;
  return false;
}

/// Counts what the model saw where the verifier says that types differ.
static void countTypes(const Judgement &judgement, Counts &counts) {
  if (judgement.seen.contains(Outcome::WrongElements))
    counts.add("  (other elements arrive)");
  if (judgement.seen.contains(Outcome::WrongExtents))
    counts.add("  (another shape arrives)");
}

/// A program that is right by rule 5 is right by the weaker 5', and then also
/// for one thread a rank.
static void compareModels(const Program &program) {
  bool isRight = !verify(program, Model::Nccl);
  bool isRightBeside = !verify(program, Model::NcclDuplex);
  bool isRightInThreads = !verify(program, Model::Mpi);
  ASSERT_TRUE(!isRight || isRightBeside);
  ASSERT_TRUE(!isRightBeside || isRightInThreads || hasReady(program));
}

static std::string nameOfRight(const Sample &sample) {
  std::string name = "right, as planned";
  if (sample.isDuplex)
    name += ", side by side";
  if (sample.isWide)
    name += ", with stages of several ranks";
  return sample.replicas > 1 ? name + ", with replicas" : name;
}

/// Expects the verifier and the model to say the same of one program.
static void compare(const Sample &sample, Random &random, Counts &counts) {
  std::optional<Error> error = verify(sample.program, sample.model);
  Judgement judgement =
      judge(sample.program, sample.model, random, sample.isSmall ? 4000 : 0);
  std::string said = error ? toString(error->kind) + std::string(":\n") +
                                 toText(sample.program, *error)
                           : "right";
  ASSERT_EQ(judgement.seen.empty(), !error) << said;
  if (error)
    ASSERT_TRUE(isSeen(error->kind, judgement)) << said;
  else if (!sample.isDamaged)
    counts.add(nameOfRight(sample));
  else
    counts.add("right in spite of damage");
  if (error) {
    ASSERT_TRUE(sample.isDamaged) << said;
    counts.add(std::string("wrong: ") + toString(error->kind));
    if (error->kind == ErrorKind::Type)
      countTypes(judgement, counts);
  }
  if (sample.isDuplex && sample.model == Model::NcclDuplex)
    counts.add(error ? "(side by side, wrong)" : "(side by side, right)");
  compareModels(sample.program);
  if (hasShapes(sample.program))
    counts.add("(values with shapes ahead)");
  if (sample.isWide)
    counts.add(error ? "(stages of several ranks, wrong)"
                     : "(stages of several ranks, right)");
  if (sample.hasParams)
    counts.add("(parameters of two stages)");
  if (sample.isSplit)
    counts.add(error ? "(in parts, wrong)" : "(in parts, right)");
  counts.add(judgement.isExhaustive ? "(all interleavings)"
                                    : "(random interleavings)");
}

TEST(CommunicationProof, VerifierAndModelAgree) {
  Random random = schedule::makeRandom();
  Counts counts;
  int rounds = numPrograms();
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    SCOPED_TRACE("program " + std::to_string(round));
    compare(randomSample(random), random, counts);
  }
  counts.print();
  for (ErrorKind kind :
       {ErrorKind::Malformed, ErrorKind::Group, ErrorKind::Handle,
        ErrorKind::Duplicate, ErrorKind::Unmatched, ErrorKind::Mismatch,
        ErrorKind::Type, ErrorKind::Shape, ErrorKind::Crossed,
        ErrorKind::AtOnce, ErrorKind::Deadlock})
    // The rarest is one of 200.
    EXPECT_GE(counts[std::string("wrong: ") + toString(kind)], rounds / 500)
        << toString(kind);
  EXPECT_GT(counts["  (other elements arrive)"], 0);
  EXPECT_GT(counts["  (another shape arrives)"], 0);
  EXPECT_GT(counts["(values with shapes ahead)"], rounds / 5);
  EXPECT_GT(counts["right, as planned"], rounds / 10);
  EXPECT_GT(counts["right, as planned, side by side"], rounds / 100);
  EXPECT_GT(counts["(side by side, wrong)"], rounds / 60);
  EXPECT_GT(counts["right, as planned, with replicas"], rounds / 30);
  EXPECT_GT(counts["right, as planned, with stages of several ranks"],
            rounds / 30);
  EXPECT_GT(counts["right, as planned, with stages of several ranks, with "
                   "replicas"],
            rounds / 100);
  EXPECT_GT(counts["(stages of several ranks, wrong)"], rounds / 10);
  EXPECT_GT(counts["(parameters of two stages)"], rounds / 10);
  EXPECT_GT(counts["right in spite of damage"], rounds / 50);
  EXPECT_GT(counts["(in parts, right)"], rounds / 20);
  EXPECT_GT(counts["(in parts, wrong)"], rounds / 20);
  EXPECT_GT(counts["(all interleavings)"], rounds / 2);
}
