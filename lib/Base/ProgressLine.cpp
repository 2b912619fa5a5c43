//===- ProgressLine.cpp - what a long command does ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/ProgressLine.h"

#include <algorithm>
#include <csignal>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

using namespace veeline;

/// A command that is over sooner shows nothing.
static constexpr std::chrono::milliseconds patience{500};
static constexpr std::chrono::seconds interval{1};

namespace {

/// The line that exists, and what guards it and the terminal.
struct Current {
  std::mutex mutex;
  ProgressLine *line = nullptr;
};

} // namespace

static Current &current() {
  static Current current;
  return current;
}

/// Whether the line is on the terminal. Signal handlers read it.
static std::atomic<bool> isShown{false};

static void put(std::string_view bytes) {
  // What cannot be written to a terminal is not missed.
  (void)!::write(STDERR_FILENO, bytes.data(), bytes.size());
}

ProgressLine::ProgressLine(bool isWanted) {
  if (!isWanted || !::isatty(STDERR_FILENO))
    return;
  {
    std::lock_guard lock(current().mutex);
    current().line = this;
  }
  thread = std::thread([this] { run(); });
}

ProgressLine::~ProgressLine() {
  if (!thread.joinable())
    return;
  {
    std::lock_guard lock(current().mutex);
    isOver = true;
    current().line = nullptr;
    erase();
  }
  change.notify_all();
  thread.join();
}

void ProgressLine::set(std::string newText) {
  if (!thread.joinable())
    return;
  std::lock_guard lock(current().mutex);
  text = std::move(newText);
  if (isShown)
    print();
}

void ProgressLine::setCurrent(const std::string &text) {
  std::lock_guard lock(current().mutex);
  ProgressLine *line = current().line;
  if (!line)
    return;
  line->text = text;
  if (isShown)
    line->print();
}

std::unique_lock<std::mutex> ProgressLine::pause() {
  std::unique_lock lock(current().mutex);
  if (current().line)
    erase();
  return lock;
}

void ProgressLine::run() {
  // Signals are for the threads that know what to do about them.
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  std::unique_lock lock(current().mutex);
  for (auto wait = std::chrono::milliseconds(patience);
       !change.wait_for(lock, wait, [&] { return isOver; }); wait = interval)
    print();
}

/// Prints no more than fits on one line of the terminal.
void ProgressLine::print() {
  if (text.empty())
    return;
  winsize size{};
  bool isKnown = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col;
  auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin);
  std::string line = text + ", " + std::to_string(seconds.count()) + " s";
  line.resize(std::min<size_t>(line.size(), (isKnown ? size.ws_col : 80) - 1));
  put("\r" + line + "\x1b[K");
  isShown = true;
}

void ProgressLine::erase() {
  if (isShown.exchange(false))
    put("\r\x1b[K");
}
