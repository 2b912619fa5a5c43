//===- RateCommand.cpp - options of the learning rate ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RateCommand.h"

#include "SharedCommand.h"
#include "veeline/Base/Completion.h"
#include "veeline/Base/Suggest.h"

#include <CLI/CLI.hpp>
#include <cmath>

using namespace veeline;
using namespace veeline::train;

static constexpr std::string_view filePrefix = "file:";

std::string train::checkNumber(const std::string &text) {
  double number = 0;
  bool valid = CLI::detail::lexical_cast(text, number) &&
               std::isfinite(number) && number >= 0;
  return valid ? "" : text + " is not a finite number of 0 or more";
}

static std::string checkGroup(const std::string &text) {
  return parseParamGroup(text)
             ? ""
             : "expected a pattern of names and a number of 0 or more, as "
               "wte*=0.1, found '" +
                   text + "'";
}

static std::string checkShape(const std::string &text) {
  if (text.starts_with(filePrefix))
    return text.size() > filePrefix.size()
               ? ""
               : "expected file:PATH, a .csv file with rates, found '" + text +
                     "'";
  std::vector<std::string> known = rateShapeNames();
  if (parseRateShape(text))
    return "";
  return "unknown schedule '" + text + "'; expected " + joinNames(known) +
         " or file:PATH" + suggestion(text, known);
}

void train::addRateOptions(CLI::App &app, RateCommand &command,
                           Options &options) {
  std::string group = "Optimiser";
  CLI::Validator number(checkNumber, ">= 0");
  app.add_option("--lr", options.optimizer.learningRate, "Peak learning rate")
      ->capture_default_str()
      ->check(number)
      ->group(group);
  app.add_option("--warmup", options.rates.warmupSteps,
                 "Steps of linear warm-up")
      ->capture_default_str()
      ->check(number)
      ->group(group);
  app.add_option(
         "--lr-schedule", command.shape,
         "The learning rate after warm-up: cosine (half a cosine to --min-lr), "
         "constant, linear, inverse-sqrt, wsd (constant, then decays in the "
         "last steps), or file:PATH, a .csv file with rates")
      ->capture_default_str()
      ->check(CLI::Validator(checkShape, ""))
      ->check(commandline::offer(rateShapeNames()))
      ->option_text("NAME|file:PATH [cosine]")
      ->group(group);
  command.leastOption =
      app.add_option("--min-lr", command.least,
                     "Learning rate of the last step, or with inverse-sqrt the "
                     "smallest one [default: 0, but with cosine the peak, so "
                     "that the rate stays there]")
          ->check(number)
          ->group(group);
  app.add_option("--lr-decay-steps", options.rates.decaySteps,
                 "With --lr-schedule wsd: how many of the last steps the decay "
                 "takes [default: a tenth]")
      ->check(CLI::Validator(checkCount, ">= 1"))
      ->group(group);
  app.add_flag("--print-lr", options.printsRates,
               "Do not train: print the learning rate of each step, as a file "
               "that --lr-schedule reads")
      ->group(group);
}

void train::addGroupOptions(CLI::App &app, RateCommand &command) {
  auto add = [&](const std::string &name, std::vector<std::string> &texts,
                 const std::string &what) {
    app.add_option("--" + name, texts, what)
        ->type_name("PATTERN=NUMBER")
        ->allow_extra_args(false)
        ->take_all()
        ->check(CLI::Validator(checkGroup, ""))
        ->group("Optimiser");
  };
  add("lr-scale", command.scales,
      "Multiply the learning rate of the parameters whose names match the "
      "pattern (* is any text, ? one character) by the number; once for each "
      "pattern");
  add("weight-decay-of", command.weightDecays,
      "The weight decay of these parameters, of any rank, instead of "
      "--weight-decay; once for each pattern");
}

bool train::isGroupOption(const std::string &name) {
  return name == "lr-scale" || name == "weight-decay-of";
}

static std::vector<ParamGroup>
parseGroups(const std::vector<std::string> &texts) {
  std::vector<ParamGroup> groups;
  for (const std::string &text : texts)
    if (auto group = parseParamGroup(text))
      groups.push_back(*group);
  return groups;
}

std::string train::checkRateOptions(const CLI::App &app,
                                    const RateCommand &command) {
  bool isFile = command.shape.starts_with(filePrefix);
  if (app.count("--lr-decay-steps") && command.shape != "wsd")
    return "--lr-decay-steps is for --lr-schedule wsd, not for " +
           command.shape;
  if (app.count("--min-lr") && command.shape == "constant")
    return "--min-lr is where a decay ends, and --lr-schedule constant has "
           "none";
  for (const char *name : {"--lr", "--warmup", "--min-lr"})
    if (isFile && app.count(name))
      return std::string(name) + " says what --lr-schedule " + command.shape +
             " says for every step; leave one of them out";
  return "";
}

void train::resolveRates(const RateCommand &command, Options &options) {
  options.groups = {parseGroups(command.scales),
                    parseGroups(command.weightDecays)};
  if (*command.leastOption)
    options.rates.least = command.least;
  if (auto shape = parseRateShape(command.shape)) {
    options.rates.shape = *shape;
    return;
  }
  options.rates.shape = RateShape::file;
  options.rates.file = command.shape.substr(filePrefix.size());
}
