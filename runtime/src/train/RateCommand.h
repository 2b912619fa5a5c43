//===- RateCommand.h - options of the learning rate -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_RATECOMMAND_H
#define VEELINE_RUNTIME_TRAIN_RATECOMMAND_H

#include "Options.h"

#include <string>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace veeline::train {

/// The parsed options.
struct RateCommand {
  std::string shape = "cosine"; ///< Or "file:PATH".
  double least = 0;
  CLI::Option *leastOption = nullptr;
  std::vector<std::string> scales, weightDecays; ///< "PATTERN=NUMBER".
};

/// Returns why `text` is not a finite number of 0 or more; empty if it is.
std::string checkNumber(const std::string &text);

void addRateOptions(CLI::App &app, RateCommand &command, Options &options);
/// Adds the options that are about some parameters only.
void addGroupOptions(CLI::App &app, RateCommand &command);
/// Whether a job file has the option `name` as lines 'pattern: number'.
bool isGroupOption(const std::string &name);
/// Returns why the options do not fit each other; empty if they do.
std::string checkRateOptions(const CLI::App &app, const RateCommand &command);
/// Converts them to the options of the trainer.
void resolveRates(const RateCommand &command, Options &options);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_RATECOMMAND_H
