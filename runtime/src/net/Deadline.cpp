//===- Deadline.cpp - a deadline for uninterruptible calls ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Deadline.h"

#include "BlockedSignals.h"

#include <chrono>
#include <cstdio>
#include <unistd.h>

using namespace veeline;
using namespace veeline::net;

Deadline::Deadline(double seconds, int32_t rank, std::string what) {
  BlockedSignals blocked;
  thread = std::thread([this, seconds, rank, what = std::move(what)] {
    watch(seconds, rank, what);
  });
}

Deadline::~Deadline() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    isOver = true;
  }
  changed.notify_all();
  thread.join();
}

void Deadline::watch(double seconds, int32_t rank, const std::string &what) {
  std::unique_lock<std::mutex> lock(mutex);
  if (changed.wait_for(lock, std::chrono::duration<double>(seconds),
                       [this] { return isOver; }))
    return;
  std::fflush(stdout);
  std::fprintf(stderr,
               "veeline: error: rank %d waited %g s in vain for all ranks to "
               "%s\n",
               rank, seconds, what.c_str());
  ::_exit(1);
}
