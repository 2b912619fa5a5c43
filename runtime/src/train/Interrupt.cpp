//===- Interrupt.cpp - Ctrl-C ---------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Interrupt.h"

#include "File.h"

#include <csignal>
#include <unistd.h>

using namespace veeline;

static volatile std::sig_atomic_t caught = 0;
/// Apart: the signal may still come to this process, and is then its first.
static int caughtElsewhere = 0;

static void onSignal(int signal) {
  if (caught) {
    deleteTemporaryFiles();
    _exit(128 + signal);
  }
  caught = signal;
}

void train::catchInterrupts() {
  struct sigaction action = {};
  action.sa_handler = onSignal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

int train::interruptSignal() { return caught ? caught : caughtElsewhere; }

void train::shareInterrupt(int signal) { caughtElsewhere = signal; }
