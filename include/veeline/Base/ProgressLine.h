//===- ProgressLine.h - what a long command does ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_BASE_PROGRESSLINE_H
#define VEELINE_BASE_PROGRESSLINE_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace veeline {

/// A line on a terminal that says what a command does and for how long it has
/// done so. It appears only after a while, is rewritten each second, and is
/// erased by the destructor. If standard error is no terminal, nothing is
/// printed. At most one may exist in a process.
class ProgressLine {
public:
  /// If not `isWanted`, nothing is printed.
  explicit ProgressLine(bool isWanted = true);
  ~ProgressLine();
  ProgressLine(const ProgressLine &) = delete;
  ProgressLine &operator=(const ProgressLine &) = delete;

  /// Sets what the command does from now on, as in "compiling: code".
  void set(std::string text);
  /// The same for the line that exists; without one, nothing happens.
  static void setCurrent(const std::string &text);

  /// Erases the line, and keeps it away as long as the result lives. Others
  /// print to the terminal meanwhile.
  [[nodiscard]] static std::unique_lock<std::mutex> pause();
  /// Erases the line. Async-signal-safe, for handlers that end the process.
  static void erase();

private:
  using Clock = std::chrono::steady_clock;
  void run();
  void print();

  std::string text;
  Clock::time_point begin = Clock::now();
  bool isOver = false;
  std::condition_variable change;
  std::thread thread;
};

} // namespace veeline

#endif // VEELINE_BASE_PROGRESSLINE_H
