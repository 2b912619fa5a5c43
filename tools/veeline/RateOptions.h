//===- RateOptions.h - options of the learning rate -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TOOLS_VEELINE_RATEOPTIONS_H
#define VEELINE_TOOLS_VEELINE_RATEOPTIONS_H

#include "Options.h"

#include <string>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace veeline::driver {

/// What is parsed.
struct RateCommand {
  std::string shape = "cosine"; ///< Or "file:PATH".
  double least = 0;
  CLI::Option *leastOption = nullptr;
};

void addRateOptions(CLI::App &app, RateCommand &command,
                    train::Options &options);
/// Why the options do not fit each other, or empty.
std::string checkRateOptions(const CLI::App &app, const RateCommand &command);
/// Turns them into what the trainer takes.
void resolveRates(const RateCommand &command, train::Options &options);

} // namespace veeline::driver

#endif // VEELINE_TOOLS_VEELINE_RATEOPTIONS_H
