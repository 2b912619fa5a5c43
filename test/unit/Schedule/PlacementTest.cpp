//===- PlacementTest.cpp --------------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestUtilities.h"

using namespace veeline::schedule;

static std::vector<int> stagesOf(PlacementKind kind, int p, int v) {
  Expected<Placement> placement = Placement::get(kind, p, v);
  std::vector<int> stages;
  if (placement)
    for (int chunk = 0; chunk < placement->chunks(); ++chunk)
      stages.push_back(placement->stageOf(chunk));
  return stages;
}

TEST(Placement, Kinds) {
  using Stages = std::vector<int>;
  EXPECT_EQ(stagesOf(PlacementKind::Linear, 3, 1), (Stages{0, 1, 2}));
  EXPECT_EQ(stagesOf(PlacementKind::Interleaved, 2, 3),
            (Stages{0, 1, 0, 1, 0, 1}));
  EXPECT_EQ(stagesOf(PlacementKind::V, 3, 2), (Stages{0, 1, 2, 2, 1, 0}));
  EXPECT_EQ(stagesOf(PlacementKind::Wave, 2, 4),
            (Stages{0, 1, 1, 0, 0, 1, 1, 0}));
  EXPECT_EQ(stagesOf(PlacementKind::V, 1, 2), (Stages{0, 0}));
}

TEST(Placement, LocalAndGlobalChunks) {
  for (PlacementKind kind : {PlacementKind::Interleaved, PlacementKind::Wave})
    for (int p : {1, 2, 5})
      for (int v : {2, 3, 4}) {
        Expected<Placement> placement = Placement::get(kind, p, v);
        ASSERT_TRUE(placement);
        for (int chunk = 0; chunk < p * v; ++chunk)
          EXPECT_EQ(placement->globalChunk(placement->stageOf(chunk),
                                           placement->localChunk(chunk)),
                    chunk);
        for (int stage = 0; stage < p; ++stage)
          for (int local = 1; local < v; ++local)
            EXPECT_LT(placement->globalChunk(stage, local - 1),
                      placement->globalChunk(stage, local));
      }
}

TEST(Placement, List) {
  Expected<Placement> placement = Placement::fromList(2, {1, 0, 0, 1});
  ASSERT_TRUE(placement);
  EXPECT_EQ(placement->chunksPerStage(), 2);
  EXPECT_EQ(placement->stageOf(0), 1);
  EXPECT_EQ(placement->localChunk(3), 1);
  EXPECT_EQ(placement->kind(), PlacementKind::List);
}

static std::string errorOf(const Expected<Placement> &placement) {
  EXPECT_FALSE(placement);
  return placement ? "" : placement.error().message;
}

TEST(Placement, Errors) {
  EXPECT_EQ(errorOf(Placement::get(PlacementKind::Linear, 0, 1)),
            "a placement needs at least 1 stage, not 0");
  EXPECT_EQ(errorOf(Placement::get(PlacementKind::Linear, 2, 0)),
            "a placement needs at least 1 chunk per stage, not 0");
  EXPECT_EQ(errorOf(Placement::get(PlacementKind::Linear, 2, 2)),
            "placement linear has 1 chunk per stage, not 2");
  EXPECT_EQ(errorOf(Placement::get(PlacementKind::V, 2, 3)),
            "placement v has 2 chunks per stage, not 3");
  EXPECT_EQ(errorOf(Placement::get(PlacementKind::Wave, 2, 1)),
            "placement wave has 2 or more chunks per stage, not 1");
  EXPECT_EQ(errorOf(Placement::get(PlacementKind::List, 2, 1)),
            "placement list needs the stage of every chunk");
  EXPECT_EQ(errorOf(Placement::get(PlacementKind::Interleaved, 1 << 20, 1000)),
            "1048576 stages with 1000 chunks each are more than 65536 chunks");
  EXPECT_EQ(errorOf(Placement::fromList(2, {0, 1, 0})),
            "a list of 3 chunks does not give each of 2 stages the same number "
            "of chunks");
  EXPECT_EQ(errorOf(Placement::fromList(2, {0, 2})),
            "chunk 1 is placed on stage 2, but the stages are 0 to 1");
  EXPECT_EQ(errorOf(Placement::fromList(2, {0, 0, 0, 1})),
            "stage 0 holds 3 chunks; every stage must hold 2");
  EXPECT_EQ(errorOf(Placement::fromList(0, {})),
            "a placement needs at least 1 stage, not 0");
}

TEST(Placement, Names) {
  for (PlacementKind kind :
       {PlacementKind::Linear, PlacementKind::Interleaved, PlacementKind::V,
        PlacementKind::Wave, PlacementKind::List}) {
    Expected<PlacementKind> parsed = parsePlacementKind(toString(kind));
    ASSERT_TRUE(parsed);
    EXPECT_EQ(*parsed, kind);
  }
  Expected<PlacementKind> unknown = parsePlacementKind("zigzag");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "unknown placement 'zigzag'; known are "
                                     "linear, interleaved, v, wave, list");
}
