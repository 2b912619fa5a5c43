//===- VerifyMemoryTest.cpp - what a machine has free ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyMemory.h"

#include <gtest/gtest.h>

using namespace veeline::train;

TEST(VerifyMemory, FreeIsAvailableAndSwap) {
  EXPECT_EQ(freeMemory("MemTotal:  900 kB\nMemFree:  7 kB\n"
                       "MemAvailable:     500 kB\nSwapTotal:  90 kB\n"
                       "SwapFree:   30 kB\n"),
            530 * 1024);
  EXPECT_EQ(freeMemory("MemAvailable:     500 kB\n"), 500 * 1024);
}

TEST(VerifyMemory, NothingIsKnownWithoutAvailable) {
  EXPECT_FALSE(freeMemory(""));
  EXPECT_FALSE(freeMemory("SwapFree:   30 kB\n"));
}
