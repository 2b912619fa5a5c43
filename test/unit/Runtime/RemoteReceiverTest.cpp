//===- RemoteReceiverTest.cpp - where parts of messages go ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "HostRank.h"
#include "RemoteChannel.h"

#include <gtest/gtest.h>

using namespace veeline;
using namespace veeline::net;

/// A part is taken if it is the next one, and has the size of that one.
TEST(RemoteReceiver, TakesPartsInOrder) {
  artifact::Program program;
  program.ranks.resize(2);
  program.channels = {{artifact::ChannelKind::activation,
                       /*edge=*/0,
                       /*fromRank=*/0,
                       /*toRank=*/1,
                       /*messageBytes=*/64,
                       /*messagesPerStep=*/2,
                       artifact::DataType::i8,
                       {64}}};
  artifact::Channel &channel = program.channels[0];
  engine::Group group(program, /*isWhole=*/false, /*checksMessages=*/true);
  auto partAt = [](int32_t part, int64_t bytes) {
    return engine::Identity{artifact::ChannelKind::activation, 0, 0, part,
                            bytes};
  };
  host::HostRank rank;
  char slot[64];
  channel.parts = 3;
  {
    RemoteReceiver receiver(group, 0, channel, [] {});
    EXPECT_EQ(receiver.placeOf(0, 0, 22), nullptr);
    receiver.post(rank, slot);
    EXPECT_EQ(receiver.placeOf(0, 1, 21), nullptr);
    EXPECT_EQ(receiver.placeOf(0, 0, 21), nullptr);
    EXPECT_EQ(receiver.placeOf(0, engine::wholeMessage, 64), nullptr);
    EXPECT_EQ(receiver.placeOf(0, 0, 22), slot);
    receiver.arrive(partAt(0, 22));
    EXPECT_EQ(receiver.placeOf(0, 0, 22), nullptr);
    EXPECT_EQ(receiver.placeOf(0, 2, 21), nullptr);
    EXPECT_EQ(receiver.placeOf(0, 1, 21), slot + 22);
    receiver.arrive(partAt(1, 21));
    receiver.arrive(partAt(2, 21));
    EXPECT_EQ(receiver.placeOf(0, 0, 22), nullptr);
    EXPECT_EQ(receiver.placeOf(1, 0, 22), nullptr);
  }
  // While a length is not known, parts are no larger than those of the longest.
  channel.lengthShapes = {{40}, {64}};
  RemoteReceiver receiver(group, 0, channel, [] {});
  receiver.post(rank, slot);
  EXPECT_EQ(receiver.placeOf(0, 0, 23), nullptr);
  EXPECT_EQ(receiver.placeOf(0, 0, 14), slot);
  receiver.arrive(partAt(0, 14));
  EXPECT_EQ(receiver.placeOf(0, 1, 22), nullptr);
  EXPECT_EQ(receiver.placeOf(0, 1, 13), slot + 14);
}
