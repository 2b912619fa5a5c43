//===- CalibrateMessages.cpp - measuring how long ranks take to wake ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Calibration.h"

#include "veeline/Base/Clock.h"
#include "veeline/Base/Futex.h"
#include "veeline/Base/Median.h"

#include <algorithm>
#include <array>
#include <thread>
#include <vector>

using namespace veeline;
using namespace veeline::compiler;

/// Sleeps until `word` is `target`, like a rank that waits.
static void await(WaitWord &word, uint32_t target) {
  for (uint32_t seen = word.load(); seen != target; seen = word.load())
    word.sleepWhile(seen, /*milliseconds=*/1000);
}

void compiler::measureMessages(MachineTable &table) {
  constexpr uint32_t rounds = 400;
  std::array<WaitWord, 2> words;
  std::thread peer([&] {
    for (uint32_t i = 1; i <= rounds; ++i) {
      await(words[0], i);
      words[1].add(1);
    }
  });
  std::vector<double> times;
  for (uint32_t i = 1; i <= rounds; ++i) {
    int64_t begin = nanoseconds();
    words[0].add(1);
    await(words[1], i);
    times.push_back(double(nanoseconds() - begin) / 2);
  }
  peer.join();
  // The median leaves out waits that found the peer awake, and those that other
  // load delayed.
  table.wakeNanoseconds = std::max(medianOf(std::move(times)), 1.0);
}
