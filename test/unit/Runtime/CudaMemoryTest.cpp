//===- CudaMemoryTest.cpp - who takes memory of a GPU ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

using namespace veeline;
using artifact::DataType;
using test::toArgument;

// Bytes that the stand-in takes.
static constexpr int64_t imageBytes = 1 << 16, functionBytes = 1 << 12,
                         productBytes = 8192;

static void idle(const void *const *, const uint32_t *, const uint32_t *) {}

/// Rank i launches i + 1 kernels; rank 0 multiplies, too.
static void work(veeline_rank *rank, char *arena, const void *const *) {
  const uint64_t arguments[] = {toArgument(arena)};
  for (int32_t i = 0; i <= rank->index; ++i)
    veeline_launch(rank, i, arguments);
  if (rank->index == 0)
    veeline_gemm(rank, 0, arena, arena + 256, arena + 512, nullptr);
}

namespace {
/// Two ranks, of which the first one multiplies.
class Program {
public:
  Program() : fixture({work, work}) {
    for (const char *name : {"idle-0", "idle-1", "idle-2", "idle-3"})
      test::addKernel(fixture, name, idle, 1);
    artifact::Rank &rank = fixture.rank(0);
    rank.gemms = {
        {DataType::f32, {2}, 2, 2, 2, {4, 2, 1}, {4, 2, 1}, {4, 2, 1}}};
    rank.libraryOffset = 2048;
    rank.libraryBytes = 256;
    for (size_t i = 0; i < 2; ++i)
      fixture.rank(i).regions.push_back(
          {"all", artifact::RegionKind::workspace, 0, 4096, -1, -1});
    options = test::standIns();
    options.steps = {work, work};
    options.poison = true;
  }

  /// The memory of each rank's GPU after `steps` steps.
  Expected<std::vector<cuda::DeviceUse>> run(int steps) {
    auto created =
        cuda::CudaExecutor::create(fixture.whole(), fixture.program(), options);
    if (!created.ok())
      return created.status();
    for (int step = 0; step < steps; ++step)
      VEELINE_TRY(test::runStep(**created));
    std::vector<cuda::DeviceUse> uses;
    for (int32_t rank = 0; rank < 2; ++rank) {
      auto use = (*created)->memoryOf(rank);
      if (!use.ok())
        return use.status();
      uses.push_back(*use);
    }
    return uses;
  }

  cuda::CudaOptions options;

private:
  cts::Fixture fixture;
};
} // namespace

static void expect(const cuda::DeviceUse &use, int64_t arenas, int64_t code,
                   int64_t libraries, int32_t firstRank) {
  EXPECT_EQ(use.arenas, arenas);
  EXPECT_EQ(use.code, code);
  EXPECT_EQ(use.libraries, libraries);
  EXPECT_EQ(use.messages, 0);
  EXPECT_EQ(use.graphs, 0);
  EXPECT_EQ(use.rest, 0);
  EXPECT_EQ(use.most, use.context + arenas + code + libraries);
  EXPECT_EQ(use.firstRank, firstRank);
}

/// Kernels count from their launch on, and so does what products load.
TEST(CudaMemory, IsToldApart) {
  Program program;
  for (bool isEager : {false, true})
    for (int steps : {1, 2, 5}) {
      program.options.isEager = isEager;
      auto uses = program.run(steps);
      ASSERT_TRUE(uses.ok()) << uses.message();
      for (const cuda::DeviceUse &use : *uses)
        expect(use, 2 * 4096, imageBytes + 2 * functionBytes, productBytes, 0);
    }
  auto uses = program.run(0);
  ASSERT_TRUE(uses.ok()) << uses.message();
  expect((*uses)[1], 2 * 4096, 0, 0, 0);
  EXPECT_EQ(standin::countLive(), 0);
}

/// Steps ask nothing of the driver if memory is not measured.
TEST(CudaMemory, CostsNothing) {
  Program program;
  auto count = [&](bool isMeasured) {
    program.options.poison = isMeasured;
    int64_t before = standin::countCalls("cuMemGetInfo_v2");
    EXPECT_TRUE(program.run(0).ok());
    int64_t loaded = standin::countCalls("cuMemGetInfo_v2");
    EXPECT_TRUE(program.run(5).ok());
    // What the steps ask, and what loading does.
    return std::pair(standin::countCalls("cuMemGetInfo_v2") - 2 * loaded +
                         before,
                     loaded - before);
  };
  EXPECT_EQ(count(false), std::pair(int64_t(0), int64_t(3)));
  EXPECT_GT(count(true).first, 0);
}

/// An arena is one allocation of the planned size, rounded up to the driver's
/// pages at most.
TEST(CudaMemory, ArenasAreAsPlanned) {
  Program program;
  {
    test::Environment little("VEELINE_STANDIN_MORE", "2097151");
    EXPECT_TRUE(program.run(2).ok());
  }
  test::Environment much("VEELINE_STANDIN_MORE", "2097152");
  EXPECT_EQ(program.run(2).message(),
            "rank 0: its arena is 2101248 bytes of an allocation, and 4096 are "
            "planned");
  EXPECT_EQ(standin::countLive(), 0);
}
