//===- CudaSumsTest.cpp - sums and gathers by NCCL itself -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProcessesInThreads.h"

#include "DeviceWatch.h"

#include "veeline/Base/Check.h"

#include <cmath>
#include <map>
#include <mutex>

using namespace veeline;
using namespace veeline::test;
using artifact::DataType;

using CudaSums = OnFourDevices;

static constexpr int32_t numReplicas = 3;

/// With 2500 elements, the third share is shorter, and members need elements of
/// the next share. With 2496 all shares are equal. With 16 only the first one
/// has any, and all members get all sums.
static constexpr int64_t manyElements = 2500, evenElements = 2496,
                         fewElements = 16;

static void addUp(veeline_rank *rank, char *arena, const void *const *) {
  veeline_copy(rank, arena, arena + 16384, 4 * numSummed);
  veeline_reduce_post(rank, 0);
  veeline_reduce_wait(rank, 0);
  veeline_copy(rank, arena + 32768, arena, 4 * numSummed);
}

static artifact::ReducedPiece makePiece(int64_t elements) {
  return {DataType::f32, 0, elements, 49152, 16384};
}

static artifact::ReducedPiece makeScatter(int64_t elements,
                                          int32_t owner = -1) {
  artifact::ReducedPiece piece = makePiece(elements);
  piece.scatters = true;
  piece.owner = owner;
  return piece;
}

static artifact::ReducedPiece makeGather(int64_t elements, int32_t owner = -1) {
  artifact::ReducedPiece piece = makePiece(elements);
  piece.gathers = true;
  piece.owner = owner;
  return piece;
}

namespace {
/// Three replicas that add up, or gather, pieces of 2500 elements in all.
class Replicas {
public:
  explicit Replicas(const std::vector<artifact::ReducedPiece> &pieces,
                    Sums sums = Sums::nccl)
      : fixture(steps, 1 << 17), processes(fixture) {
    fixture.program() = makeReplicas(fixture, {{0, pieces, 1, 1}});
    fixture.program().sums = sums;
    processes.options.steps = steps;
    processes.before = writeContribution;
    processes.after = [this](cuda::CudaExecutor &executor, int32_t rank) {
      std::vector<float> &numbers = results[static_cast<size_t>(rank)];
      EXPECT_TRUE(
          executor.read(rank, 32768, numbers.data(), 4 * numSummed).ok());
    };
  }

  std::vector<std::string> run(int64_t numSteps = 3) {
    for (std::vector<float> &numbers : results)
      numbers.assign(numSummed, -1);
    return processes.run(fixture.program(), numSteps);
  }

  float at(int32_t rank, int64_t i) const {
    return results[static_cast<size_t>(rank)][static_cast<size_t>(i)];
  }

  const std::vector<veeline_step_fn> steps =
      std::vector<veeline_step_fn>(numReplicas, addUp);
  cts::Fixture fixture;
  Processes processes;

private:
  std::vector<std::vector<float>> results =
      std::vector<std::vector<float>>(numReplicas);
};
} // namespace

static float sumInOrder(int64_t i) {
  return (contribution(0, i) + contribution(1, i)) + contribution(2, i);
}

/// Rounding aside.
static bool isSum(float found, int64_t i) {
  return std::abs(found - sumInOrder(i)) <= 1e-6f * sumInOrder(i);
}

/// Runs under several orders, issued and from graphs.
static void runAll(Replicas &replicas, const std::function<void()> &expect) {
  bool isEager = false;
  for (const char *order : {"late", "fifo", "random:1", "random:2"}) {
    standin::setOrder(order);
    isEager = !isEager;
    replicas.processes.options.isEager = isEager;
    ASSERT_EQ(replicas.run(), std::vector<std::string>(numReplicas)) << order;
    expect();
  }
}

/// How often a function was called since the last time.
static int64_t callsSince(std::map<std::string, int64_t> &before,
                          const std::string &function) {
  int64_t count = standin::countCalls(function);
  return count - std::exchange(before[function], count);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// All replicas have the same bits, which for more than two are not those of
/// the order of ranks.
TEST_F(CudaSums, WholeSums) {
  Replicas replicas({makePiece(manyElements)});
  runAll(replicas, [&] {
    int64_t numOthers = 0;
    for (int64_t i = 0; i < manyElements; ++i) {
      ASSERT_TRUE(isSum(replicas.at(0, i), i)) << i;
      numOthers += replicas.at(0, i) != sumInOrder(i);
      for (int32_t rank = 1; rank < numReplicas; ++rank)
        ASSERT_EQ(replicas.at(0, i), replicas.at(rank, i)) << i;
    }
    EXPECT_GT(numOthers, 0);
  });
}

TEST_F(CudaSums, OrderedSums) {
  Replicas replicas({makePiece(manyElements)}, Sums::ordered);
  runAll(replicas, [&] {
    for (int32_t rank = 0; rank < numReplicas; ++rank)
      for (int64_t i = 0; i < manyElements; ++i)
        ASSERT_EQ(replicas.at(rank, i), sumInOrder(i)) << i;
  });
}

/// Every element that a member needs is a sum, and it has the same bits on all
/// members that need it. `members` are the ranks in the order of replicas.
static void expectScattered(const Replicas &replicas, int64_t elements,
                            int32_t owner, Sums sums,
                            const std::vector<int32_t> &members = {0, 1, 2}) {
  Division division{elements, numReplicas, owner};
  std::map<int64_t, float> known;
  for (int32_t member = 0; member < numReplicas; ++member) {
    int32_t rank = members[static_cast<size_t>(member)];
    Shard needed = division.reduced(member);
    for (int64_t i = needed.first; i < needed.first + needed.count; ++i) {
      float found = replicas.at(rank, i);
      ASSERT_TRUE(isSum(found, i)) << rank << ": " << i;
      ASSERT_EQ(known.try_emplace(i, found).first->second, found) << i;
      if (sums == Sums::ordered)
        ASSERT_EQ(found, sumInOrder(i)) << i;
    }
  }
  EXPECT_EQ(static_cast<int64_t>(known.size()), elements);
}

/// Every rank has the elements of each member.
static void expectGathered(const Replicas &replicas, int64_t elements,
                           int32_t owner,
                           const std::vector<int32_t> &members = {0, 1, 2}) {
  Division division{elements, numReplicas, owner};
  for (int32_t from = 0; from < numReplicas; ++from)
    for (int64_t k = 0; k < division.own(from).count; ++k)
      for (int32_t to = 0; to < numReplicas; ++to) {
        int64_t i = division.own(from).first + k;
        ASSERT_EQ(replicas.at(to, i),
                  contribution(members[static_cast<size_t>(from)], i))
            << i;
      }
}

TEST_F(CudaSums, ScatteredSums) {
  for (Sums sums : {Sums::nccl, Sums::ordered})
    for (int64_t elements : {manyElements, evenElements, fewElements})
      for (int32_t owner : {-1, 0, 2}) {
        Replicas replicas({makeScatter(elements, owner)}, sums);
        runAll(replicas,
               [&] { expectScattered(replicas, elements, owner, sums); });
      }
}

/// Gathers move bits, whoever carries them out.
TEST_F(CudaSums, Gathers) {
  for (Sums sums : {Sums::nccl, Sums::ordered})
    for (int64_t elements : {manyElements, evenElements, fewElements})
      for (int32_t owner : {-1, 0, 2}) {
        Replicas replicas({makeGather(elements, owner)}, sums);
        runAll(replicas, [&] { expectGathered(replicas, elements, owner); });
      }
}

/// Makes the ranks of replicas 0, 1 and 2 the ranks 2, 0 and 1 of the program.
static void reorder(Replicas &replicas) {
  artifact::Program program = replicas.fixture.program();
  program.ranks.resize(1);
  program.places.clear();
  auto all = artifact::withAllReplicas(program, "2,0,1");
  ASSERT_TRUE(all.ok()) << all.message();
  ASSERT_EQ(all->ranksOf(0), (std::vector<int32_t>{2, 0, 1}));
  replicas.fixture.program() = *all;
}

/// Members are in the order of replicas, and NCCL's ranks in that of the
/// program's. Equal shares then take a call for each.
TEST_F(CudaSums, MembersInAnotherOrder) {
  const std::vector<int32_t> members = {2, 0, 1};
  std::map<std::string, int64_t> calls;
  (void)callsSince(calls, "ncclReduceScatter");
  (void)callsSince(calls, "ncclAllGather");
  for (int64_t elements : {manyElements, evenElements, fewElements})
    for (int32_t owner : {-1, 0, 2}) {
      Replicas scattered({makeScatter(elements, owner)});
      reorder(scattered);
      runAll(scattered, [&] {
        expectScattered(scattered, elements, owner, Sums::nccl, members);
      });
      Replicas gathered({makeGather(elements, owner)});
      reorder(gathered);
      runAll(gathered,
             [&] { expectGathered(gathered, elements, owner, members); });
    }
  EXPECT_EQ(callsSince(calls, "ncclReduceScatter"), 0);
  EXPECT_EQ(callsSince(calls, "ncclAllGather"), 0);
}

/// No float has this number.
static double longContribution(int32_t replica, int64_t i) {
  return double(contribution(replica, i)) * (1 + 0x1p-40);
}

/// Elements of 8 bytes, of which there is room for half as many.
TEST_F(CudaSums, Doubles) {
  constexpr int64_t elements = numSummed / 2;
  artifact::ReducedPiece piece = makeScatter(elements);
  piece.type = DataType::f64;
  Replicas replicas({piece});
  std::mutex mutex;
  std::map<int64_t, double> known;
  replicas.processes.before = [](Executor &executor, int32_t rank) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < elements; ++i)
      numbers.push_back(longContribution(rank, i));
    EXPECT_TRUE(executor.write(rank, 16384, numbers.data(), 8 * elements).ok());
  };
  replicas.processes.after = [&](Executor &executor, int32_t rank) {
    std::vector<double> numbers(elements);
    EXPECT_TRUE(executor.read(rank, 32768, numbers.data(), 8 * elements).ok());
    Division division{elements, numReplicas, -1};
    Shard needed = division.reduced(rank);
    for (int64_t i = needed.first; i < needed.first + needed.count; ++i) {
      double sum = (longContribution(0, i) + longContribution(1, i)) +
                   longContribution(2, i);
      double found = numbers[static_cast<size_t>(i)];
      ASSERT_NEAR(found, sum, 1e-15 * sum) << i;
      // Another member that needs it has the same bits.
      std::lock_guard<std::mutex> lock(mutex);
      ASSERT_EQ(known.try_emplace(i, found).first->second, found) << i;
    }
  };
  for (bool isEager : {false, true}) {
    replicas.processes.options.isEager = isEager;
    known.clear();
    EXPECT_EQ(replicas.run(), std::vector<std::string>(numReplicas));
    EXPECT_EQ(static_cast<int64_t>(known.size()), elements);
  }
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

/// The calls of all ranks in ten eager steps, by function.
static std::map<std::string, int64_t> countCalls(Replicas &replicas) {
  const char *functions[] = {
      "ncclSend",          "ncclRecv",     "ncclAllReduce",
      "ncclReduceScatter", "ncclReduce",   "ncclAllGather",
      "ncclBroadcast",     "ncclGroupEnd", "cuLaunchKernel"};
  std::map<std::string, int64_t> before, counts;
  replicas.processes.options.isEager = true;
  for (int64_t numSteps : {1, 11}) {
    for (const char *function : functions)
      (void)callsSince(before, function);
    EXPECT_EQ(replicas.run(numSteps), std::vector<std::string>(numReplicas));
    for (const char *function : functions) {
      int64_t ofRun = callsSince(before, function);
      // What connects ranks does not count.
      counts[function] = ofRun - counts[function];
    }
  }
  std::erase_if(counts, [](const auto &entry) { return entry.second == 0; });
  return counts;
}

using Counts = std::map<std::string, int64_t>;

/// Of three ranks, ten steps each: one call takes the place of eight and a
/// kernel.
TEST_F(CudaSums, CallsOfAStep) {
  Replicas ordered({makePiece(manyElements)}, Sums::ordered);
  EXPECT_EQ(countCalls(ordered), (Counts{{"ncclSend", 120},
                                         {"ncclRecv", 120},
                                         {"ncclGroupEnd", 60},
                                         {"cuLaunchKernel", 30}}));
  Replicas whole({makePiece(manyElements)});
  EXPECT_EQ(countCalls(whole),
            (Counts{{"ncclAllReduce", 30}, {"ncclGroupEnd", 30}}));
  Replicas even({makeScatter(evenElements)});
  EXPECT_EQ(countCalls(even)["ncclReduceScatter"], 30);
  Replicas uneven({makeScatter(manyElements)});
  EXPECT_EQ(countCalls(uneven)["ncclReduce"], 90);
  Replicas few({makeScatter(fewElements)});
  EXPECT_EQ(countCalls(few),
            (Counts{{"ncclAllReduce", 30}, {"ncclGroupEnd", 30}}));
  Replicas owned({makeScatter(manyElements, 1)});
  EXPECT_EQ(countCalls(owned),
            (Counts{{"ncclReduce", 30}, {"ncclGroupEnd", 30}}));
  Replicas gathered({makeGather(evenElements)});
  EXPECT_EQ(countCalls(gathered),
            (Counts{{"ncclAllGather", 30}, {"ncclGroupEnd", 30}}));
  Replicas parts({makeGather(manyElements)});
  EXPECT_EQ(countCalls(parts),
            (Counts{{"ncclBroadcast", 90}, {"ncclGroupEnd", 30}}));
}

/// Ranks connect before the first step, for which all of them have to come to
/// the same call.
TEST_F(CudaSums, RanksConnectBeforeTheFirstStep) {
  Environment together("VEELINE_STANDIN_CONNECT", "together");
  for (const artifact::ReducedPiece &piece :
       {makePiece(manyElements), makeScatter(manyElements),
        makeScatter(evenElements), makeGather(evenElements)}) {
    Replicas replicas({piece});
    EXPECT_EQ(replicas.run(), std::vector<std::string>(numReplicas));
  }
}

//===----------------------------------------------------------------------===//
// What goes wrong
//===----------------------------------------------------------------------===//

static bool has(const std::vector<std::string> &texts,
                const std::string &part) {
  return std::any_of(texts.begin(), texts.end(), [&](const std::string &text) {
    return text.find(part) != std::string::npos;
  });
}

static bool areAllErrors(const std::vector<std::string> &texts) {
  return std::none_of(texts.begin(), texts.end(),
                      [](const std::string &text) { return text.empty(); });
}

/// Each function fails at connecting, and in a step.
TEST_F(CudaSums, EveryCall) {
  const std::pair<std::string, artifact::ReducedPiece> calls[] = {
      {"ncclAllReduce", makePiece(manyElements)},
      {"ncclReduceScatter", makeScatter(evenElements)},
      {"ncclReduce", makeScatter(manyElements)},
      {"ncclAllGather", makeGather(evenElements)},
      {"ncclBroadcast", makeGather(manyElements)}};
  for (const auto &[call, piece] : calls)
    for (int64_t time : {1, 10}) {
      Replicas replicas({piece});
      replicas.processes.options.isEager = true;
      standin::failCall(call, time, 2);
      std::vector<std::string> ends = replicas.run(100);
      EXPECT_TRUE(areAllErrors(ends)) << call;
      EXPECT_TRUE(has(ends, call + ": ncclSystemError (2)")) << ends[0];
      EXPECT_EQ(standin::countLive(), 0) << call;
      standin::failCall("", 0, 0);
    }
}

TEST_F(CudaSums, ErrorsOfGraphs) {
  Replicas replicas({makePiece(manyElements)});
  for (const std::string &end :
       replicas.processes.failReplay(replicas.fixture.program()))
    EXPECT_NE(end.find("in the background: ncclRemoteError (6)"),
              std::string::npos)
        << end;
  EXPECT_FALSE(cuda::hasAbandonedWork());
}

/// Ranks whose tables differ.
TEST_F(CudaSums, CallsThatDiffer) {
  Replicas replicas({makePiece(manyElements)});
  replicas.fixture.program().ranks[1].reductions[0].pieces[0].numElements = 7;
  std::vector<std::string> ends = replicas.run();
  EXPECT_TRUE(areAllErrors(ends));
  EXPECT_TRUE(has(ends, "ncclAllReduce of 7 elements of type 7")) << ends[0];
}

/// A communicator with other ranks cannot add up those of a stage.
TEST_F(CudaSums, CommunicatorsOfOtherRanks) {
  const std::vector<veeline_step_fn> steps(4, addUp);
  cts::Fixture fixture(steps, 1 << 17);
  makeForGpu(fixture.whole());
  fixture.program().stages = fixture.program().replicas = 2;
  fixture.program().ranks.resize(2);
  fixture.program().sums = Sums::nccl;
  for (int32_t stage : {0, 1})
    fixture.rank(static_cast<size_t>(stage)).reductions = {
        {stage, {makePiece(manyElements)}, 1, 1}};
  auto all = artifact::withAllReplicas(fixture.program(), "stages-first");
  ASSERT_TRUE(all.ok()) << all.message();
  fixture.program() = *all;
  Processes processes(fixture);
  processes.options.steps = steps;
  for (const std::string &end : processes.run(fixture.program(), 1))
    EXPECT_NE(end.find("NCCL's communicator 1 does not consist of the ranks "
                       "that add them up, which sums by NCCL need; compile "
                       "with --sums ordered"),
              std::string::npos)
        << end;
}

/// Comes to its sum in the first two steps alone.
static void addUpTwice(veeline_rank *rank, char *arena, const void *const *) {
  static std::atomic<int> times{0};
  if (++times <= 2)
    addUp(rank, arena, nullptr);
}

TEST_F(CudaSums, WhoeverWaitsIsWoken) {
  Replicas replicas({makePiece(manyElements)});
  replicas.processes.options.isEager = true;
  replicas.processes.options.steps[1] = addUpTwice;
  replicas.processes.meanwhile = [&](Hub &hub) {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    hub.fail("rank 1 is gone", -1);
  };
  std::vector<std::string> ends = replicas.run(100);
  EXPECT_TRUE(has(ends, "step: rank 1 is gone"));
  EXPECT_TRUE(has(ends, "waits for the gradients of chunk 0 of ranks 1, 2"))
      << ends[0];
}
