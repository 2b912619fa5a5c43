//===- TrainCommand.cpp - `veeline train` ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "Train.h"
#include "TrainCommand.h"
#include "veeline/Base/CommandLine.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <dlfcn.h>
#include <memory>
#include <unistd.h>

using namespace veeline;
using train::TrainCommand;

/// Sanitizers have their own malloc, so they are not restarted.
void driver::restartWithAllocationCounter(char **argv) {
  auto has = [](const char *symbol) {
    return ::dlsym(RTLD_DEFAULT, symbol) != nullptr;
  };
  if (has("veeline_count_allocations") || has("__asan_init") ||
      has("__tsan_init"))
    return;
  std::string library =
      driver::libraryDirectory() + "/libveeline_allocation_counter.so";
  const char *preloaded = std::getenv("LD_PRELOAD");
  if (::access(library.c_str(), R_OK) != 0 ||
      (preloaded && std::string(preloaded).find(library) != std::string::npos))
    return;
  if (preloaded)
    library += std::string(":") + preloaded;
  ::setenv("LD_PRELOAD", library.c_str(), /*overwrite=*/1);
  // If this fails, training continues without counting, and reports that.
  ::execv("/proc/self/exe", argv);
}

static int runTrain(TrainCommand &command, char **argv) {
  train::Options &options = command.options;
  train::resolveTrain(command);
  options.libraryDirectory = driver::libraryDirectory();
  if (options.checkMemory)
    driver::restartWithAllocationCounter(argv);
  return train::run(options);
}

std::string driver::checkTrain(const std::vector<const char *> &arguments,
                               TrainCheck check) {
  CLI::App app("", "veeline");
  auto command = std::make_shared<TrainCommand>();
  train::addTrainCommand(app, command);
  {
    commandline::ErrorCapture capture;
    (void)commandline::parse(app, static_cast<int>(arguments.size()),
                             arguments.data());
    if (!capture.message.empty())
      return capture.message;
  }
  train::resolveTrain(*command);
  Status status = check == TrainCheck::artifact
                      ? train::check(command->options)
                      : train::checkFiles(command->options,
                                          check == TrainCheck::filesAndResults);
  return status.ok() ? "" : status.message();
}

std::function<int(char **)> driver::addTrainCommand(CLI::App &app) {
  auto command = std::make_shared<TrainCommand>();
  train::addTrainCommand(app, command);
  return [command](char **argv) { return runTrain(*command, argv); };
}
