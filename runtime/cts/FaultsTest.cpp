//===- FaultsTest.cpp - an error ends in a message, never in a hang -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Suite.h"

#include <cstring>

using namespace veeline;
using namespace veeline::cts;

static void receiveOne(veeline_rank *rank, char *arena, const void *const *) {
  veeline_recv_post(rank, 0, arena);
  veeline_recv_wait(rank, 0);
}

static void sendOne(veeline_rank *rank, char *, const void *const *) {
  std::memset(veeline_send_acquire(rank, 0), 1, 8);
  veeline_send_commit(rank, 0);
}

static void doNothing(veeline_rank *, char *, const void *const *) {}

static std::string messageOfStep(std::vector<veeline_step_fn> steps,
                                 int32_t messages = 1) {
  Fixture fixture(std::move(steps));
  fixture.addChannel(0, 1, 8, messages);
  if (fixture.program().stages > 2)
    fixture.addChannel(2, 1, 8, messages);
  fixture.create();
  Status status = fixture.step();
  EXPECT_FALSE(fixture.step().ok()) << "an executor that failed runs again";
  return status.ok() ? "" : status.message();
}

TEST(Faults, ReceiverWithoutSender) {
  std::string message = messageOfStep({doNothing, receiveOne});
  EXPECT_NE(message.find("deadlock: rank 0 has ended its step; rank 1 waits "
                         "for a message of rank 0 (channel 0, activation 0)"),
            std::string::npos)
      << message;
}

TEST(Faults, SenderWithoutReceiver) {
  std::string message = messageOfStep({sendOne, doNothing});
  EXPECT_NE(message.find("rank 0 waits for a place to send to from rank 1"),
            std::string::npos)
      << message;
}

TEST(Faults, WaitWithoutPost) {
  auto waitOnly = [](veeline_rank *rank, char *, const void *const *) {
    veeline_op_begin(rank, 0);
    veeline_recv_wait(rank, 0);
    veeline_op_end(rank, 0);
  };
  // The sender blocks for a slot and must be woken by the fault of its peer.
  EXPECT_EQ(messageOfStep({sendOne, waitOnly}),
            "rank 1, op 0: channel 0 is waited for, but nothing was posted");
}

TEST(Faults, CommitWithoutAcquire) {
  auto commitOnly = [](veeline_rank *rank, char *, const void *const *) {
    veeline_send_commit(rank, 0);
  };
  EXPECT_EQ(messageOfStep({commitOnly, receiveOne}),
            "rank 0: channel 0 is committed, but nothing was acquired");
}

TEST(Faults, MorePostsThanMessages) {
  auto postTwice = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_recv_post(rank, 0, arena);
    veeline_recv_post(rank, 0, arena + 64);
  };
  EXPECT_EQ(messageOfStep({sendOne, postTwice}),
            "rank 1: channel 0 has no more than 1 messages a step, one more "
            "was posted");
}

/// One message by channel 0, in operation 0 of either rank; channel 1 has other
/// messages.
static std::string messageOfIdentities(artifact::Op sent,
                                       artifact::Op expected) {
  auto send = [](veeline_rank *rank, char *arena, const void *const *batch) {
    veeline_op_begin(rank, 0);
    sendOne(rank, arena, batch);
    veeline_op_end(rank, 0);
  };
  auto receive = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_recv_post(rank, 0, arena);
    veeline_op_begin(rank, 0);
    veeline_recv_wait(rank, 0);
    veeline_op_end(rank, 0);
  };
  Fixture fixture({send, receive});
  fixture.metadata().microbatches = 2;
  fixture.addChannel(0, 1, 8, 1);
  fixture.addChannel(0, 1, 16, 1);
  fixture.rank(0).ops = {sent};
  fixture.rank(1).ops = {expected};
  fixture.create();
  Status status = fixture.step();
  return status.ok() ? "" : status.message();
}

TEST(Faults, MessageOfAnotherIdentity) {
  artifact::Op sent{artifact::OpKind::send, -1, 1, 0, -1};
  artifact::Op expected{artifact::OpKind::recv, -1, 1, 0, -1};
  EXPECT_EQ(messageOfIdentities(sent, expected), "");
  expected.microbatch = 0;
  EXPECT_EQ(messageOfIdentities(sent, expected),
            "rank 1, op 0: channel 0: activation 0 of microbatch 1 with 8 "
            "bytes arrived, expected activation 0 of microbatch 0 with 8 "
            "bytes");
  // Another edge, of another size.
  expected.microbatch = 1;
  sent.channel = 1;
  EXPECT_EQ(messageOfIdentities(sent, expected),
            "rank 1, op 0: channel 0: activation 1 of microbatch 1 with 16 "
            "bytes arrived, expected activation 0 of microbatch 1 with 8 "
            "bytes");
}

/// After a fault a step runs to its end: every call returns at once, and
/// acquired places can be written.
TEST(Faults, StepRunsToItsEnd) {
  static bool reachedEnd;
  reachedEnd = false;
  auto stubborn = [](veeline_rank *rank, char *arena, const void *const *) {
    veeline_recv_wait(rank, 0);
    for (int i = 0; i < 1000; ++i) {
      veeline_recv_post(rank, 0, arena);
      veeline_recv_wait(rank, 0);
      std::memset(veeline_send_acquire(rank, 0), 1, 8);
      veeline_send_commit(rank, 0);
      float value = 1;
      veeline_report(rank, 0, 0, &value);
    }
    reachedEnd = true;
  };
  EXPECT_NE(messageOfStep({sendOne, stubborn}), "");
  EXPECT_TRUE(reachedEnd);
}

/// Ranks that have nothing to do with the fault are woken too.
TEST(Faults, EverybodyIsWoken) {
  auto waitOnly = [](veeline_rank *rank, char *, const void *const *) {
    veeline_recv_wait(rank, 0);
  };
  auto sendOther = [](veeline_rank *rank, char *, const void *const *) {
    std::memset(veeline_send_acquire(rank, 1), 1, 8);
    veeline_send_commit(rank, 1);
  };
  EXPECT_NE(messageOfStep({sendOne, waitOnly, sendOther}).find("rank 1:"),
            std::string::npos);
}
