//===- veeline.cpp - the driver -------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "veeline/Base/Completion.h"
#include "veeline/Schedule/Command/Command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>
#include <string_view>
#include <utility>

using namespace veeline;

/// Whether the compiler's library parses the options of a subcommand.
static bool isCompilerCommand(std::string_view name) {
  return name == "compile" || name == "inspect" || name == "doctor";
}

static int runCommand(int argc, char **argv) {
  if (argc > 1 && isCompilerCommand(argv[1]))
    return driver::runCompiler(argc - 1, argv + 1);
  // If a shell requests a completion, the command's name is moved to the front.
  // If it is the last word, it may be the word to complete.
  if (argc > 3 && commandline::isCompleting(argc, argv) &&
      isCompilerCommand(argv[2])) {
    std::swap(argv[1], argv[2]);
    return driver::runCompiler(argc - 1, argv + 1);
  }

  CLI::App app("Veeline: pipeline-parallel training, compiled", "veeline");
  app.set_version_flag("--version", "veeline " VEELINE_VERSION);
  app.require_subcommand(1);
  app.add_subcommand("compile", "Compile a model into an artifact");
  app.add_subcommand("inspect", "Print what is in a model or an artifact");
  app.add_subcommand("doctor", "Describe this machine, and measure it");
  std::string shell = "bash";
  app.add_subcommand(
         "completion",
         "Print a script with which a shell completes commands and options")
      ->add_option("shell", shell, "bash, fish or zsh")
      ->check(CLI::IsMember(commandline::completedShells()))
      ->type_name("SHELL")
      ->capture_default_str();
  auto runTrain = driver::addTrainCommand(app);
  auto runEval = driver::addEvalCommand(app);
  auto runJob = driver::addRunCommand(app);
  auto runExport = driver::addExportCommand(app);
  auto runTimeline = driver::addTimelineCommand(app);
  auto runSchedule = schedule::addScheduleCommand(app);

  bool finished = false;
  int status = driver::parse(app, argc, argv, finished);
  if (finished)
    return status;
  if (app.got_subcommand("completion")) {
    std::cout << commandline::completionScript(shell);
    return 0;
  }
  if (app.got_subcommand("eval"))
    return runEval(argv);
  if (app.got_subcommand("run"))
    return runJob();
  if (app.got_subcommand("export"))
    return runExport();
  if (app.got_subcommand("timeline"))
    return runTimeline();
  if (!app.got_subcommand("schedule"))
    return runTrain(argv);
  driver::catchInterrupts();
  return runSchedule(std::cout, std::cerr);
}

/// Output that is lost, for example on a full disk, is an error.
static int checkOutput(int status) {
  bool isWritten =
      std::cout.flush() && std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (isWritten || status != 0)
    return status;
  std::cerr << "veeline: error: standard output could not be written\n";
  return 1;
}

int main(int argc, char **argv) { return checkOutput(runCommand(argc, argv)); }
