//===- Interrupt.cpp - handling of Ctrl-C ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"

#include "LoadedProgram.h"
#include "veeline/Base/File.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <sys/prctl.h>
#include <unistd.h>

using namespace veeline;

static volatile std::sig_atomic_t caught = 0;
/// This is separate, because the signal may still come to this process, and is
/// then its first.
static int caughtElsewhere = 0;

static std::atomic<const engine::LoadedProgram *> running{nullptr};

static void tellPlace(int signal) {
  const engine::LoadedProgram *executor = running.load();
  if (!executor)
    return;
  int error = errno;
  ShortText text;
  text << "veeline: told to end by signal " << signal << " in ";
  executor->describe(text);
  text << "\n";
  // This is a single write, so that the text is not mixed with that of others.
  // If it fails, there is nobody to tell.
  (void)!::write(STDERR_FILENO, text.view().data(), text.view().size());
  errno = error;
}

/// Ends the process after a moment, whatever this thread does: a file system
/// may not answer. Async-signal-safe.
static void endSoon() {
  constexpr unsigned moment = 2;
  std::signal(SIGALRM, SIG_DFL);
  ::alarm(moment);
}

/// Tells a person at a terminal what an interrupt does. Async-signal-safe.
static void tellUser() {
  static constexpr std::string_view first =
      "\nveeline: interrupted; this ends after the current step and writes "
      "what was asked for (once more: at once, and without that)\n";
  static constexpr std::string_view second =
      "\nveeline: interrupted again; what was not yet written is not there\n";
  int error = errno;
  std::string_view text = caught ? second : first;
  if (::isatty(STDERR_FILENO))
    (void)!::write(STDERR_FILENO, text.data(), text.size());
  errno = error;
}

static void onSignal(int signal) {
  if (caught)
    endSoon();
  if (signal == SIGTERM)
    tellPlace(signal);
  tellUser();
  if (caught) {
    deleteTemporaryFiles();
    _exit(128 + signal);
  }
  caught = signal;
}

static void onLostLauncher(int) {
  constexpr std::string_view text =
      "veeline: error: what has started this process has ended\n";
  endSoon();
  deleteTemporaryFiles();
  // The error is ignored, because perhaps nobody reads the text.
  (void)!::write(STDERR_FILENO, text.data(), text.size());
  _exit(1);
}

static void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

/// Handles SIGBUS: a file that is being read was truncated, or its disk is at
/// fault. Otherwise it is an error of the program, which the signal then ends
/// as it does by default.
static void onBusError(int signal, siginfo_t *info, void *) {
  const char *name = nameOfMapped(info->si_addr);
  if (!name) {
    handle(signal, SIG_DFL);
    return;
  }
  ShortText text;
  text << "veeline: error: '" << name
       << "' is shorter than when it was opened, or its disk cannot be read; a "
          "file must stay as it is while it is read: write another one, and "
          "rename it\n";
  deleteTemporaryFiles();
  (void)!::write(STDERR_FILENO, text.view().data(), text.view().size());
  _exit(1);
}

void train::catchInterrupts() {
  handle(SIGINT, onSignal);
  handle(SIGTERM, onSignal);
  struct sigaction action = {};
  action.sa_sigaction = onBusError;
  action.sa_flags = SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, nullptr);
}

void train::endWithLauncher() {
  pid_t launcher = getppid();
  // A signal that no user or launcher sends.
  int signal = SIGRTMIN;
  handle(signal, onLostLauncher);
  prctl(PR_SET_PDEATHSIG, signal);
  // A launcher that has ended in the meantime sends nothing. (One that ended
  // before is not noticed: the ranks then wait for each other, until that times
  // out.)
  if (getppid() != launcher)
    onLostLauncher(signal);
}

train::PlaceTeller::PlaceTeller(const engine::LoadedProgram *executor) {
  running.store(executor);
}

train::PlaceTeller::~PlaceTeller() { running.store(nullptr); }

int train::interruptSignal() { return caught ? caught : caughtElsewhere; }

void train::shareInterrupt(int signal) { caughtElsewhere = signal; }
