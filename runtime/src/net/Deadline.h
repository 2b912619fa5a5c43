//===- Deadline.h - a deadline for uninterruptible calls --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_NET_DEADLINE_H
#define VEELINE_RUNTIME_NET_DEADLINE_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace veeline::net {

/// Ends the process with an error if this object exists for too long. Some
/// functions of MPI wait for all ranks, forever if one does not call them.
class Deadline {
public:
  /// `what` is what `rank` waits for all ranks to do.
  Deadline(double seconds, int32_t rank, std::string what);
  ~Deadline();
  Deadline(const Deadline &) = delete;
  Deadline &operator=(const Deadline &) = delete;

private:
  void watch(double seconds, int32_t rank, const std::string &what);

  std::mutex mutex;
  std::condition_variable changed;
  bool isOver = false;
  std::thread thread;
};

} // namespace veeline::net

#endif // VEELINE_RUNTIME_NET_DEADLINE_H
