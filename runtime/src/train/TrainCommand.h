//===- TrainCommand.h - the options of `veeline train` ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_TRAINCOMMAND_H
#define VEELINE_RUNTIME_TRAIN_TRAINCOMMAND_H

#include "RateCommand.h"
#include "SharedCommand.h"
#include "veeline/Base/CommandLine.h"

#include <memory>

namespace veeline::train {

/// The parsed options: those of the trainer, and those that stand for others.
struct TrainCommand : SharedCommand {
  RateCommand rates;
  double errorFeedback = StepSettings().errorFeedback;
  CLI::Option *errorFeedbackOption = nullptr;
  std::string lossScale = "dynamic";
  std::string evalText, evalTokens;
  std::string log = "text";
};

/// Adds `train` to `app`. Parsing writes to `command`.
void addTrainCommand(CLI::App &app,
                     const std::shared_ptr<TrainCommand> &command);
/// Replaces options that stand for others by these.
void resolveTrain(TrainCommand &command);
/// The options of `train`.
std::vector<commandline::OptionName> listTrainOptions();

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_TRAINCOMMAND_H
