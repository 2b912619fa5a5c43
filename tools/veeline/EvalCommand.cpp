//===- EvalCommand.cpp - the options of `veeline eval` --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "SharedCommand.h"

#include "Evaluation.h"
#include "Train.h"
#include "veeline/Base/CommandLine.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

using namespace veeline;

static void addOutputOptions(CLI::App &app, train::Options &options) {
  std::string group = "Output";
  app.add_flag("--perplexity", options.printsPerplexity,
               "Print the exponential of the loss, too")
      ->group(group);
  app.add_flag("--json", options.logsJson,
               "Print the result as JSON, and no text")
      ->group(group);
  app.add_option("--metrics", options.metrics,
                 "Write a line per microbatch to this CSV file")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->group(group);
  app.add_option(
         "--outputs", options.outputs,
         "Write the results of the model that are tensors, for all samples, to "
         "a .safetensors file, or to a .npy file if there is only one")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->group(group);
  train::addTimelineOptions(app, options, group);
  group = "Checks";
  app.add_flag("--check-messages", options.checkMessages,
               "Send edge, microbatch and size with each message, and compare "
               "them where it arrives; TCP always does")
      ->group(group);
  app.add_flag("--check-memory", options.checkMemory,
               "Compare the bytes that were touched with the memory plan, and "
               "count other allocations")
      ->group(group);
}

static void addOptions(CLI::App &app, train::SharedCommand &command) {
  train::Options &options = command.options;
  options.evaluates = true;
  options.steps = 0;
  options.inputs.inOrder = true;
  options.program = train::evaluationProgram;
  // No gradient can vanish here, so the loss needs no scale.
  options.lossScale.fixed = 1;
  app.add_option("artifact", options.artifact,
                 "What 'veeline compile' wrote, with --evaluation or "
                 "--forward-only")
      ->required()
      ->type_name("ARTIFACT");
  app.add_option("--init", options.init,
                 "The parameters: a .safetensors file, as of train --save, a "
                 ".safetensors.index.json, a checkpoint, or a folder of "
                 "checkpoints, of which the last one is taken [default: those "
                 "that training begins with]")
      ->type_name("FILE|DIR")
      ->check(commandline::checkFileName);
  train::addInitNames(app, options);
  app.add_option("--steps", options.steps,
                 "Steps, of as many microbatches as the artifact has "
                 "[default: all samples once]")
      ->check(CLI::Validator(train::checkCount, ">= 1"));
  train::addDataOptions(app, command);
  addOutputOptions(app, options);
  train::addProcessOptions(app, options);
  train::addDeviceOptions(app, command);
}

static int runEval(train::SharedCommand &command, char **argv) {
  train::Options &options = command.options;
  train::resolveShared(command);
  std::error_code ignored;
  if (std::filesystem::is_directory(options.init, ignored))
    options.resume = std::exchange(options.init, "");
  if (!options.resume.empty() && !options.initNames.empty()) {
    commandline::printError("--init-names is for files, and '" +
                            options.resume +
                            "' is a folder of checkpoints, which have the "
                            "model's names");
    return 1;
  }
  options.libraryDirectory = driver::libraryDirectory();
  if (options.checkMemory)
    driver::restartWithAllocationCounter(argv);
  return train::run(options);
}

std::function<int(char **)> driver::addEvalCommand(CLI::App &app) {
  auto command = std::make_shared<train::SharedCommand>();
  CLI::App &eval = *app.add_subcommand(
      "eval", "Compute the loss and the metrics of a compiled model on given "
              "data");
  addOptions(eval, *command);
  eval.callback([command] {
    if (std::string misfit = train::checkDocuments(*command); !misfit.empty())
      throw CLI::ValidationError(misfit);
  });
  return [command](char **argv) { return runEval(*command, argv); };
}
