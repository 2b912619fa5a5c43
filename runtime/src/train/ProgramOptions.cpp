//===- ProgramOptions.cpp - options of a training program -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramOptions.h"

#include "TrainCommand.h"
#include "veeline/Base/Suggest.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>

using namespace veeline;
using namespace veeline::train;

/// Options about the loop over steps, which the program has itself, and about
/// text for a user.
static constexpr std::string_view ofLoop[] = {
    "epochs",        "steps-in-flight",
    "eval-every",    "eval-data",
    "eval-text",     "eval-tokens",
    "eval-steps",    "eval-lengths",
    "eval-metrics",  "held-out",
    "save",          "metrics",
    "timeline",      "timeline-steps",
    "profile",       "flight-recorder",
    "trace-tensors", "tensorboard",
    "log",           "log-every",
    "verify",        "print-lr",
    "check-memory",  "compare-sequential",
    "perplexity",    "quiet"};

/// Options that an artifact is compiled with, and that are easily expected
/// here.
static constexpr std::string_view ofCompiling[] = {
    "stages",   "chunks-per-stage", "microbatches", "replicas",
    "schedule", "optimizer",        "recompute",    "evaluation"};

std::vector<std::string> Training::optionNames() {
  std::vector<std::string> names;
  for (const commandline::OptionName &option : listTrainOptions())
    if (std::ranges::find(ofLoop, option.name) == std::end(ofLoop))
      names.push_back(option.name);
  return names;
}

Expected<Options>
train::parseProgramOptions(const std::vector<TrainingOption> &given) {
  std::vector<std::string> names = Training::optionNames();
  // The name of the artifact is not known here.
  std::vector<std::string> words{"veeline", "train", "artifact"};
  for (const auto &[name, value] : given) {
    if (std::ranges::find(ofLoop, name) != std::end(ofLoop))
      return Status::error("option '" + name +
                           "' is one of veeline train alone: the program has "
                           "its own loop over steps");
    if (std::ranges::find(ofCompiling, name) != std::end(ofCompiling))
      return Status::error("option '" + name +
                           "' is one of compiling, and the artifact has it");
    if (std::ranges::find(names, name) == names.end())
      return Status::error("there is no option '" + name +
                           "' of a program that trains" +
                           suggestionOfOption(name, names));
    words.push_back("--" + name + (value ? "=" + *value : ""));
  }
  std::vector<const char *> arguments(words.size());
  std::ranges::transform(words, arguments.begin(), &std::string::c_str);
  CLI::App app("", "veeline");
  auto command = std::make_shared<TrainCommand>();
  Options &options = command->options;
  constexpr int64_t unknown = std::numeric_limits<int64_t>::max();
  options.steps = unknown;
  options.stepsInFlight = 1;
  addTrainCommand(app, command);
  commandline::ErrorCapture capture;
  if (commandline::parse(app, static_cast<int>(arguments.size()),
                         arguments.data()))
    return Status::error(capture.message);
  resolveTrain(*command);
  if (options.rates.dependsOnSteps() && options.steps == unknown)
    return Status::error("the learning rate goes down until the last step; "
                         "say how many there are, by the option 'steps'");
  if (options.inputs.otherwise.empty())
    options.inputs.otherwise = "fed";
  return std::move(options);
}
