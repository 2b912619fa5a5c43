//===- Process.h - a function in a process of its own -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_PROCESS_H
#define VEELINE_TEST_FUZZ_PROCESS_H

#include "veeline/status.h"

#include <functional>
#include <sys/types.h>

namespace veeline::fuzz {

/// A copy of this process that runs a function: whatever that does, this
/// process goes on.
class Process {
public:
  /// Starts it. It ends after `seconds` at the latest, unless these are 0.
  /// `work` returns some text.
  explicit Process(const std::function<std::string()> &work,
                   unsigned seconds = 0);

  /// Waits for its end. Returns the text. Fails where the process has ended
  /// without one, or could not be made.
  Expected<std::string> wait();

private:
  Status made = Status::success();
  unsigned seconds;
  int output = -1;
  pid_t child = -1;
};

/// What comes out of a pipe until its other end is closed.
std::string readAll(int descriptor);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_PROCESS_H
