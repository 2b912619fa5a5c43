//===- TrainCommand.cpp - the options of `veeline train` ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TrainCommand.h"

#include "StepPlan.h"
#include "Train.h"
#include "veeline/Base/CommandLine.h"

#include <CLI/CLI.hpp>
#include <cmath>

using namespace veeline;
using namespace veeline::train;

static void addStartOptions(CLI::App &app, TrainCommand &command) {
  Options &options = command.options;
  app.add_flag("--shuffle", options.inputs.shuffle,
               "Take the samples of arrays in another order in each epoch");
  app.add_option("--init", options.init,
                 "Start from the parameters in this .safetensors file, or in "
                 "those that a .safetensors.index.json lists")
      ->type_name("FILE")
      ->check(commandline::checkFileName);
  addInitNames(app, options);
}

static std::string checkShare(const std::string &text) {
  double share = 0;
  bool valid = CLI::detail::lexical_cast(text, share) && share > 0 && share < 1;
  return valid ? "" : text + " is no share between 0 and 1";
}

/// Adds the options about the data that are evaluated.
static void addEvaluatedData(CLI::App &app, TrainCommand &command,
                             CLI::Option *every, const std::string &group) {
  data::InputOptions &inputs = command.options.evaluation.inputs;
  app.add_option("--eval-data", inputs.specs,
                 "What is evaluated, of each batch argument, as in --data")
      ->type_name("NAME=SOURCE")
      ->allow_extra_args(false)
      ->take_all()
      ->needs(every)
      ->group(group);
  app.add_option("--eval-text", command.evalText,
                 "Short for --eval-data tokens=text:FILE "
                 "--eval-data labels=text:FILE:shift=1")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->needs(every)
      ->group(group);
  app.add_option(
         "--eval-tokens", command.evalTokens,
         "As --tokens, of what is evaluated: each window once, in order")
      ->type_name("FILES")
      ->check(checkTokenFiles)
      ->needs(every)
      ->group(group);
  app.add_option("--eval-lengths", inputs.lengths,
                 "As --lengths, of what is evaluated")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->needs(every)
      ->group(group);
  app.add_option("--held-out", command.options.inputs.heldOut,
                 "The share of --data that is not trained on, but evaluated: "
                 "the last samples of arrays, in whole steps, the last bytes "
                 "of texts, and the last tokens of each file of tokens")
      ->check(CLI::Validator(checkShare, "in (0, 1)"))
      ->needs(every)
      ->excludes(app.get_option("--eval-lengths"))
      ->group(group);
}

static void addEvaluationOptions(CLI::App &app, TrainCommand &command) {
  EvaluationOptions &options = command.options.evaluation;
  std::string group = "Evaluation, of an artifact compiled with --evaluation";
  CLI::Validator count(checkCount, ">= 1");
  CLI::Option *every =
      app.add_option("--eval-every", options.every,
                     "Evaluate the parameters after each so many steps, and "
                     "after the last one")
          ->check(count)
          ->group(group);
  addEvaluatedData(app, command, every, group);
  app.add_option("--eval-steps", options.steps,
                 "Steps of an evaluation [default: all samples once]")
      ->check(count)
      ->needs(every)
      ->group(group);
  app.add_flag("--perplexity", command.options.printsPerplexity,
               "Tell the exponential of the loss of evaluations, too")
      ->needs(every)
      ->group(group);
  app.add_option("--eval-metrics", options.metrics,
                 "Write a line per evaluation to this CSV file")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->needs(every)
      ->group(group);
}

static std::string checkLimit(const std::string &text) {
  double number = 0;
  bool valid = CLI::detail::lexical_cast(text, number) &&
               std::isfinite(number) && number > 0;
  return valid ? "" : text + " is not a finite number above 0";
}

/// Rejects a rate of 1, which never forgets its start and has no bias
/// correction.
static std::string checkDecayRate(const std::string &text) {
  double rate = 0;
  bool valid = CLI::detail::lexical_cast(text, rate) && rate >= 0 && rate < 1;
  return valid ? "" : text + " is not in [0, 1)";
}

/// Rejects numbers that are not powers of two, whose products are not exact.
static std::string checkPowerOfTwo(const std::string &text) {
  double number = 0;
  int exponent = 0;
  bool valid = CLI::detail::lexical_cast(text, number) && number >= 1 &&
               number <= StepPlan::greatestLossScale &&
               std::frexp(number, &exponent) == 0.5;
  return valid ? ""
               : text + " is not a power of two from 1 to " +
                     std::to_string(int64_t(StepPlan::greatestLossScale));
}

static void addLossScaleOptions(CLI::App &app, TrainCommand &command) {
  LossScaleOptions &options = command.options.lossScale;
  std::string group = "Optimiser";
  CLI::Validator power(checkPowerOfTwo, "2^K");
  app.add_option("--loss-scale", command.lossScale,
                 "What to multiply the loss by, a power of two, for artifacts "
                 "compiled with --loss-scaling; or dynamic: halved in steps "
                 "whose gradients are infinite or NaN, which change nothing, "
                 "and doubled now and then")
      ->capture_default_str()
      ->check(CLI::Validator(
          [](std::string &text) {
            return text == "dynamic" ? "" : checkPowerOfTwo(text);
          },
          "dynamic|2^K"))
      ->group(group);
  app.add_option("--initial-loss-scale", options.first,
                 "Of the first step, where the loss scale is dynamic")
      ->capture_default_str()
      ->check(power)
      ->group(group);
  app.add_option("--min-loss-scale", options.least,
                 "The least dynamic loss scale: training ends if gradients are "
                 "not finite even with it")
      ->capture_default_str()
      ->check(power)
      ->group(group);
  app.add_option("--loss-scale-window", options.window,
                 "Steps with finite gradients after which a dynamic loss scale "
                 "is doubled")
      ->capture_default_str()
      ->check(CLI::Validator(checkCount, ">= 1"))
      ->group(group);
}

/// Returns why the options of the loss scale do not fit each other; empty if
/// they do.
static std::string resolveLossScale(const CLI::App &app,
                                    TrainCommand &command) {
  LossScaleOptions &options = command.options.lossScale;
  bool isFixed = command.lossScale != "dynamic";
  if (app.count("--loss-scale"))
    options.given = "--loss-scale";
  for (const char *name :
       {"--initial-loss-scale", "--min-loss-scale", "--loss-scale-window"}) {
    if (!app.count(name))
      continue;
    if (isFixed)
      return std::string(name) +
             " is about a dynamic loss scale, and --loss-scale says " +
             command.lossScale;
    options.given = name;
  }
  if (options.first < options.least)
    return "--initial-loss-scale is " + std::to_string(int64_t(options.first)) +
           ", below the least one, " + std::to_string(int64_t(options.least)) +
           " (--min-loss-scale)";
  if (isFixed)
    options.fixed = std::stod(command.lossScale);
  return "";
}

static void addOptimizerOptions(CLI::App &app, TrainCommand &command) {
  StepSettings &settings = command.options.optimizer;
  std::string group = "Optimiser";
  CLI::Validator decayRate(checkDecayRate, "in [0, 1)");
  CLI::Validator number(checkNumber, ">= 0");
  addRateOptions(app, command.rates, command.options);
  app.add_option("--beta1,--momentum", settings.beta1,
                 "First decay rate of Adam and Lion, or SGD's momentum")
      ->capture_default_str()
      ->check(decayRate)
      ->group(group);
  app.add_option("--muon-momentum", settings.muonMomentum,
                 "Muon's momentum, of matrices; the rest is AdamW's")
      ->capture_default_str()
      ->check(decayRate)
      ->group(group);
  app.add_option("--beta2", settings.beta2,
                 "Second decay rate of Adam and Lion; of Lion usually 0.99")
      ->capture_default_str()
      ->check(decayRate)
      ->group(group);
  app.add_option("--epsilon", settings.epsilon, "Adam's epsilon")
      ->capture_default_str()
      ->check(number)
      ->group(group);
  app.add_option("--weight-decay", settings.weightDecay,
                 "Weight decay of parameters of rank 2 and more, decoupled "
                 "but for adam")
      ->capture_default_str()
      ->check(number)
      ->group(group);
  addGroupOptions(app, command.rates);
  command.errorFeedbackOption =
      app.add_option("--error-feedback-factor", command.errorFeedback,
                     "By how much of its difference from the one before an "
                     "update corrects itself; for artifacts compiled with "
                     "--error-feedback")
          ->capture_default_str()
          ->check(number)
          ->group(group);
  CLI::Validator limit(checkLimit, "> 0");
  app.add_option("--clip-norm", settings.clipNorm,
                 "Scale gradients down to this norm, that of all parameters "
                 "together, where it is greater; for artifacts compiled with "
                 "--clip-sync")
      ->check(limit)
      ->group(group);
  app.add_option("--clip-value", settings.clipValue,
                 "Limit each element of a gradient to this absolute value")
      ->check(limit)
      ->group(group);
  app.add_flag("--skip-nonfinite", settings.skipNonFinite,
               "Leave parameters as they are in a step with a gradient that is "
               "infinite or NaN; for artifacts compiled with --clip-sync")
      ->group(group);
  addLossScaleOptions(app, command);
}

static void addCheckpointOptions(CLI::App &app, TrainCommand &command) {
  Options &options = command.options;
  std::string group = "Checkpoints";
  CLI::Option *checkpoint =
      app.add_option("--checkpoint", options.checkpoint,
                     "Write checkpoints to this folder, from which --resume "
                     "goes on; the last one when training ends")
          ->type_name("DIR")
          ->check(commandline::checkFileName)
          ->group(group);
  CLI::Validator count(checkCount, ">= 1");
  app.add_option("--every", options.checkpointEvery,
                 "Steps between checkpoints [default: only the one at the end]")
      ->check(count)
      ->needs(checkpoint)
      ->group(group);
  app.add_option("--keep", options.checkpointsKept,
                 "How many checkpoints to keep, the last ones [default: all]")
      ->check(count)
      ->needs(checkpoint)
      ->group(group);
  app.add_option("--resume", options.resume,
                 "Go on from the last checkpoint in this folder, or from the "
                 "checkpoint DIR/step-N, as if training had not stopped")
      ->type_name("DIR")
      ->check(commandline::checkFileName)
      ->excludes(app.get_option("--init"))
      ->group(group);
  app.add_flag("--continue", options.continues,
               "Go on from the last good checkpoint in the folder of "
               "--checkpoint, if there is one")
      ->needs(checkpoint)
      ->excludes(app.get_option("--resume"))
      ->group(group);
}

/// Rejects endings of formats that are not written.
static std::string checkSafeTensors(const std::string &path) {
  for (const char *ending :
       {".npy", ".npz", ".pt", ".pth", ".ckpt", ".h5", ".onnx", ".pkl"})
    if (path.ends_with(ending))
      return "'" + path + "' would be a .safetensors file; name it so";
  return "";
}

static void addOutputOptions(CLI::App &app, TrainCommand &command) {
  Options &options = command.options;
  std::string group = "Output";
  app.add_option("--save", options.save,
                 "Write the parameters to this .safetensors file at the end")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->check(checkSafeTensors, "")
      ->group(group);
  app.add_option("--metrics", options.metrics,
                 "Write a line per step to this CSV file")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->group(group);
  addTimelineOptions(app, options, group);
  app.add_option("--profile", options.profile,
                 "Write what each F, B, W and message took in the last steps, "
                 "for veeline compile --profile")
      ->type_name("FILE")
      ->check(commandline::checkFileName)
      ->group(group);
  app.add_option("--flight-recorder", options.flightRecorder,
                 "On a fault, write what each rank did last, as "
                 "PREFIX.rankN.txt and as a Chrome trace, "
                 "PREFIX.rankN.trace.json")
      ->type_name("PREFIX")
      ->check(commandline::checkFileName)
      ->group(group);
  app.add_flag("--trace-tensors", options.traceTensors,
               "Print mean, deviation, least and greatest value of each "
               "message that is sent or received, and the norm of each "
               "parameter's gradient")
      ->group(group);
  app.add_option("--tensorboard", options.tensorboard,
                 "Write the curves of loss, learning rate and so on to a file "
                 "in this folder, for TensorBoard")
      ->type_name("DIR")
      ->check(commandline::checkFileName)
      ->group(group);
  app.add_option("--log", command.log,
                 "What standard output gets: text, or json, a line for each "
                 "step and for whatever else happens")
      ->capture_default_str()
      ->check(CLI::IsMember({"text", "json"}))
      ->group(group);
  app.add_flag("-q,--quiet", options.quiet,
               "Print nothing but errors, remarks, and what checks find")
      ->group(group);
  app.add_option("--log-every", options.logEvery,
                 "Steps between lines of progress, where the output is no "
                 "terminal or a launcher has started several processes")
      ->capture_default_str()
      ->check(CLI::Validator(checkCount, ">= 1"))
      ->group(group);
}

static void addCheckOptions(CLI::App &app, TrainCommand &command) {
  Options &options = command.options;
  std::string group = "Checks";
  app.add_flag("--check-messages", options.checkMessages,
               "Send with each message of which edge, direction, microbatch "
               "and size it is, and compare where it arrives; by TCP always")
      ->group(group);
  app.add_flag("--verify", options.verify,
               "Do not train: run --steps steps and compare losses and "
               "gradients with the sequential program bit for bit, and with "
               "the unpartitioned one")
      ->group(group);
  app.add_flag("--compare-sequential", options.compareSequential,
               "After training, run the same steps sequentially and compare "
               "the losses and parameters bit for bit")
      ->group(group);
  app.add_flag("--check-memory", options.checkMemory,
               "Compare the bytes touched with the plan, and count the "
               "allocations beside it")
      ->group(group);
}

/// Options for output and checks cannot be combined with --verify, which does
/// not train.
static void excludeFromVerify(CLI::App &app) {
  for (const char *name :
       {"--save", "--metrics", "--tensorboard", "--timeline", "--profile",
        "--flight-recorder", "--compare-sequential", "--check-memory",
        "--trace-tensors", "--check-messages", "--checkpoint", "--resume",
        "--eval-every"})
    app.get_option("--verify")->excludes(app.get_option(name));
  // The comparison begins with the first step.
  for (const char *name : {"--resume", "--continue"})
    app.get_option("--compare-sequential")->excludes(app.get_option(name));
  // The thread of checkpoints allocates memory during the steps.
  app.get_option("--check-memory")->excludes(app.get_option("--checkpoint"));
  // The memory of the evaluation would count as that of training; veeline eval
  // checks it.
  app.get_option("--check-memory")->excludes(app.get_option("--eval-every"));
  // The lines of the trace are text, which allocates memory.
  app.get_option("--check-memory")->excludes(app.get_option("--trace-tensors"));
}

/// Returns why --log json does not fit the other options; empty if it does.
static std::string checkLog(const CLI::App &app, const TrainCommand &command) {
  if (command.log != "json")
    return "";
  for (const char *name : {"--trace-tensors", "--print-lr"})
    if (app.count(name))
      return std::string(name) + " prints text, and --log says json";
  if (command.options.quiet)
    return "--quiet leaves out what --log json prints; give one of them";
  return "";
}

void train::resolveTrain(TrainCommand &command) {
  Options &options = command.options;
  options.logsJson = command.log == "json";
  resolveRates(command.rates, options);
  if (*command.errorFeedbackOption)
    options.errorFeedback = command.errorFeedback;
  resolveShared(command);
  resolveContinue(options);
  data::InputOptions &evaluated = options.evaluation.inputs;
  addWindows("text:", command.evalText, evaluated.specs);
  addWindows("tokens:", command.evalTokens, evaluated.specs);
  addDocuments(command.evalTokens, command.documents, evaluated.specsIfTaken);
  evaluated.inOrder = true;
  evaluated.seed = options.inputs.seed;
  evaluated.dropLast = options.inputs.dropLast;
  evaluated.otherwise = options.inputs.otherwise;
  evaluated.heldOut = options.inputs.heldOut;
  if (evaluated.heldOut > 0) {
    evaluated.part = data::InputOptions::Part::heldOut;
    evaluated.specsIfTaken = options.inputs.specsIfTaken;
    evaluated.lengths = options.inputs.lengths;
  } else {
    evaluated.prefix = "--eval-";
  }
}

void train::addTrainCommand(CLI::App &app,
                            const std::shared_ptr<TrainCommand> &command) {
  CLI::App &train =
      *app.add_subcommand("train", "Train a compiled model on this machine");
  train
      .add_option("artifact", command->options.artifact,
                  "What 'veeline compile' wrote")
      ->required()
      ->type_name("ARTIFACT");
  train.add_option("--steps", command->options.steps, "Steps of the optimiser")
      ->capture_default_str()
      ->check(CLI::Validator(checkCount, ">= 1"));
  train
      .add_option("--epochs", command->options.epochs,
                  "Instead of --steps: how often to take all samples")
      ->check(CLI::Validator(checkCount, ">= 1"))
      ->excludes(train.get_option("--steps"));
  train
      .add_option("--program", command->options.program,
                  "Which program to run: pipeline, sequential or reference")
      ->capture_default_str();
  train
      .add_option("--steps-in-flight", command->options.stepsInFlight,
                  "How many steps may be under way: with 2, a rank goes on to "
                  "the next step while others end the last one; with 1, all "
                  "wait for each other")
      ->capture_default_str()
      ->check(CLI::Range(1, 2));
  addDataOptions(train, *command);
  addStartOptions(train, *command);
  addEvaluationOptions(train, *command);
  addOptimizerOptions(train, *command);
  addOutputOptions(train, *command);
  addCheckpointOptions(train, *command);
  addProcessOptions(train, command->options);
  addDeviceOptions(train, *command);
  addCheckOptions(train, *command);
  excludeFromVerify(train);
  train.callback([&train, command] {
    std::string misfit = resolveLossScale(train, *command);
    if (misfit.empty())
      misfit = checkRateOptions(train, command->rates);
    if (misfit.empty())
      misfit = checkLog(train, *command);
    if (misfit.empty() && command->evalTokens.empty())
      misfit = checkDocuments(*command);
    if (!misfit.empty())
      throw CLI::ValidationError(misfit);
  });
}

std::vector<commandline::OptionName> train::listTrainOptions() {
  CLI::App app;
  addTrainCommand(app, std::make_shared<TrainCommand>());
  auto names = commandline::listOptions(*app.get_subcommand("train"));
  for (commandline::OptionName &option : names) {
    option.isList |= option.name == "rank-order" || option.name == "tokens" ||
                     option.name == "eval-tokens";
    option.isMap = isGroupOption(option.name);
  }
  return names;
}
