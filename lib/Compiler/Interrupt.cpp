//===- Interrupt.cpp - Ctrl-C while a model is compiled -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/File.h"
#include "veeline/Base/ProgressLine.h"
#include "veeline/Compiler/Compiler.h"
#include "veeline/Conversion/HostTarget.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <iterator>
#include <unistd.h>

using namespace veeline;

static void onSignal(int signal) {
  ProgressLine::erase();
  stopLinkers();
  llvm::sys::RunInterruptHandlers();
  deleteTemporaryFiles();
  _exit(128 + signal);
}

void compiler::catchInterrupts() {
  constexpr int signals[] = {SIGHUP, SIGINT, SIGTERM};
  struct sigaction before[std::size(signals)];
  for (size_t i = 0; i != std::size(signals); ++i)
    sigaction(signals[i], nullptr, &before[i]);
  // Makes LLVM install its handlers now, instead of when it first removes a
  // file, so that ours replace them. LLVM's handlers of crashes stay.
  llvm::sys::SetInterruptFunction(nullptr);
  struct sigaction action = {};
  action.sa_handler = onSignal;
  sigfillset(&action.sa_mask);
  // A signal that was ignored (nohup) is still ignored.
  for (size_t i = 0; i != std::size(signals); ++i)
    sigaction(signals[i],
              before[i].sa_handler == SIG_IGN ? &before[i] : &action, nullptr);
}
