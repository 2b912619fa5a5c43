//===- Job.cpp - keys of a job file, and their command lines --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job.h"
#include "TrainCommand.h"
#include "VPipeKeys.h"

#include "veeline/Base/Suggest.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

using namespace veeline;
using commandline::OptionName;
using compiler::JobEntry;
using driver::Job;

/// Keys of VPipe's driver, and options, with their names here.
static constexpr std::pair<std::string_view, std::string_view> equivalents[] = {
    {"module", "'model'"},
    {"batch_size", "'batch-size'"},
    {"learning_rate", "'lr'"},
    {"weight_decay", "'weight-decay'"},
    {"data_dir", "'data' or 'text'"},
    {"checkpoint_dir", "'checkpoint' and 'resume'"},
    {"output", "'artifact'"},
};

//===----------------------------------------------------------------------===//
// Keys and values
//===----------------------------------------------------------------------===//

const JobEntry *Job::find(const std::string &key) const {
  for (const JobEntry &entry : entries)
    if (entry.key == key)
      return &entry;
  return nullptr;
}

std::string Job::textOf(const std::string &key, const std::string &none) const {
  const JobEntry *entry = find(key);
  return entry ? entry->values[0].text : none;
}

bool Job::read() {
  auto *reader = reinterpret_cast<compiler::ReadJobFile *>(
      driver::loadCompiler("run", compiler::readJobFileSymbol));
  std::string error;
  if (!reader)
    return false;
  if (!reader(options.file, entries, error)) {
    commandline::printError(error);
    return false;
  }
  auto wrong = driver::translateVPipeKeys(*reader, entries);
  return !wrong || fail(wrong->entry, wrong->what);
}

/// Keys that are not just an option of one command.
static const std::set<std::string> &ownKeys() {
  static const std::set<std::string> keys = {
      "model", "artifact",      "machines", "batch-size",
      "data",  "write-profile", "directory"};
  return keys;
}

/// Whether the values of the key are lines of the form 'argument: source'.
static bool isData(const std::string &key) {
  return key == "data" || key == "eval-data";
}

bool Job::checkPieces(const JobEntry &entry) {
  for (const JobEntry::Value &value : entry.values)
    if (value.text.find_first_not_of("0123456789, ") != std::string::npos)
      return fail(entry, "expected the pieces of each stage, as [3, 2, 2, 3], "
                         "or a file of VPipe's with them, as vpipe.json, "
                         "found '" +
                             value.text + "'");
  return true;
}

bool Job::checkKey(const JobEntry &entry) {
  bool isOwn = ownKeys().contains(entry.key);
  auto compileOption = compileOptions.find(entry.key);
  auto trainOption = trainOptions.find(entry.key);
  if (!isOwn && compileOption == compileOptions.end() &&
      trainOption == trainOptions.end()) {
    std::vector<std::string> known(ownKeys().begin(), ownKeys().end());
    for (const auto *table : {&compileOptions, &trainOptions})
      for (const auto &[name, option] : *table)
        known.push_back(name);
    for (const auto &[name, here] : equivalents)
      if (entry.key == name)
        return fail(entry, "unknown key; here it is " + std::string(here));
    std::string near = suggestionOfOption(entry.key, known);
    return fail(entry, "unknown key" +
                           (near.empty() ? "; a job has no sections: its keys "
                                           "are options of veeline compile and "
                                           "veeline train, without dashes"
                                         : near));
  }
  bool takesList =
      entry.key == "machines" || isData(entry.key) ||
      (compileOption != compileOptions.end() && compileOption->second.isList) ||
      (trainOption != trainOptions.end() && trainOption->second.isList);
  if (entry.kind == JobEntry::Kind::List && !takesList)
    return fail(entry, "expected one value, found a list");
  bool takesMap =
      trainOption != trainOptions.end() && trainOption->second.isMap;
  if (entry.kind == JobEntry::Kind::Map && !isData(entry.key) && !takesMap)
    return fail(entry, "expected a value, found a mapping");
  if (takesMap && entry.kind != JobEntry::Kind::Map)
    return fail(entry, "expected lines 'pattern: number', found '" +
                           entry.values[0].text + "'");
  if (isData(entry.key) && entry.kind == JobEntry::Kind::Scalar)
    return fail(entry, "expected lines 'argument: source', found '" +
                           entry.values[0].text + "'");
  if (entry.key == "partition" && !checkPieces(entry))
    return false;
  bool isFlag =
      (compileOption != compileOptions.end() && compileOption->second.isFlag) ||
      (trainOption != trainOptions.end() && trainOption->second.isFlag);
  const std::string &text = entry.values[0].text;
  if (isFlag && text != "true" && text != "false")
    return fail(entry, "expected true or false, found '" + text + "'");
  return true;
}

bool Job::checkKeys() {
  for (const OptionName &option : compiler::listCompileOptions())
    if (option.name != "output" && option.name != "json")
      compileOptions[option.name] = option;
  for (const OptionName &option : veeline::train::listTrainOptions())
    if (option.name != "data")
      trainOptions[option.name == "profile" ? "write-profile" : option.name] =
          option;
  for (const JobEntry &entry : entries)
    if (!checkKey(entry))
      return false;
  const JobEntry *entry = find("model");
  if (!entry)
    return fail(1, "there is no key 'model', the file of the model");
  model = entry->values[0].text;
  if (!readFolder())
    return false;
  std::filesystem::path beside =
      std::filesystem::path(model).replace_extension(".vee");
  artifactPath =
      textOf("artifact", folder.empty() ? beside.string()
                                        : inFolder(beside.filename().string()));
  return true;
}

bool Job::checkNumber(const JobEntry &entry, int64_t &number) {
  const std::string &text = entry.values[0].text;
  if (CLI::detail::lexical_cast(text, number) && number >= 1)
    return true;
  return fail(entry,
              "expected a whole number of 1 or more, found '" + text + "'");
}

/// Computes `microbatches` from `batch-size`, unless something else determines
/// it.
bool Job::readBatchSize() {
  const JobEntry *batch = find("batch-size");
  if (!batch)
    return true;
  int64_t samples = 0, size = 1, replicas = 1;
  if (!checkNumber(*batch, samples))
    return false;
  if (find("microbatches"))
    return true;
  const JobEntry *sizeEntry = find("microbatch-size");
  const JobEntry *replicasEntry = find("replicas");
  if ((sizeEntry && !checkNumber(*sizeEntry, size)) ||
      (replicasEntry && !checkNumber(*replicasEntry, replicas)))
    return false;
  if (samples % (size * replicas) != 0)
    return fail(*batch, std::to_string(samples) +
                            " samples are no multiple of " +
                            std::to_string(size) + " in a microbatch times " +
                            std::to_string(replicas) + " replicas");
  JobEntry microbatches = *batch;
  microbatches.key = "microbatches";
  microbatches.values[0].text = std::to_string(samples / (size * replicas));
  entries.push_back(microbatches);
  return true;
}

//===----------------------------------------------------------------------===//
// The two commands
//===----------------------------------------------------------------------===//

void Job::addArguments(const JobEntry &entry, const OptionName &option,
                       Arguments &arguments) const {
  const std::string name = "--" + option.name;
  if (option.isFlag) {
    if (entry.values[0].text == "true")
      arguments.push_back(name);
    return;
  }
  if (option.isMap) {
    for (const JobEntry::Value &value : entry.values)
      arguments.push_back(name + "=" + value.name + "=" + value.text);
    return;
  }
  std::string text;
  for (const JobEntry::Value &value : entry.values)
    text += (text.empty() ? "" : ",") + value.text;
  arguments.push_back(name + "=" + text);
}

Job::Arguments Job::compileArguments(const JobEntry *without) const {
  Arguments arguments = {"compile", model, "--output=" + artifactPath};
  for (const JobEntry &entry : entries)
    if (auto it = compileOptions.find(entry.key);
        it != compileOptions.end() && &entry != without)
      addArguments(entry, it->second, arguments);
  if (find("eval-every") && !find("evaluation"))
    arguments.emplace_back("--evaluation");
  // With a log in JSON, standard output is for programs.
  if (textOf("log", "text") == "json" && !find("quiet"))
    arguments.emplace_back("--quiet");
  return arguments;
}

Job::Arguments Job::trainArguments(const JobEntry *without) const {
  Arguments arguments = {"veeline", "train", artifactPath};
  for (const JobEntry &entry : entries) {
    if (&entry == without || isPassed(entry))
      continue;
    if (isData(entry.key))
      for (const JobEntry::Value &value : entry.values)
        arguments.push_back("--" + entry.key + "=" +
                            (value.name.empty() ? "" : value.name + "=") +
                            value.text);
    auto it = trainOptions.find(entry.key);
    if (it != trainOptions.end() && !isData(entry.key) &&
        !compileOptions.contains(entry.key))
      addArguments(entry, it->second, arguments);
  }
  if (std::string list = devicesOfMachines(); !list.empty())
    arguments.push_back("--device=" + list);
  addFolderArguments(without, arguments);
  return arguments;
}

/// The --device list for the GPUs of `machines`, unless the key `device` is
/// given.
std::string Job::devicesOfMachines() const {
  std::string list;
  if (textOf("target", "host") != "cuda" || find("device"))
    return list;
  for (int32_t device : devices)
    list += (list.empty() ? "" : ",") + std::to_string(device);
  return list;
}

std::vector<const char *> Job::pointersTo(const Arguments &arguments) {
  std::vector<const char *> pointers;
  pointers.reserve(arguments.size());
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  return pointers;
}

/// Returns what is wrong with a command line, or an empty string.
std::string Job::errorOfCompile(const Arguments &arguments) {
  commandline::ErrorCapture capture;
  std::vector<const char *> argv = pointersTo(arguments);
  auto parsed =
      compiler::parseCompile(static_cast<int>(argv.size()), argv.data());
  if (parsed.command)
    command = parsed.command;
  return capture.message;
}

std::string Job::errorOfTrain(const Arguments &arguments) {
  commandline::ErrorCapture capture;
  CLI::App app("", "veeline");
  (void)driver::addTrainCommand(app);
  std::vector<const char *> argv = pointersTo(arguments);
  (void)commandline::parse(app, static_cast<int>(argv.size()), argv.data());
  return capture.message;
}

/// The line of an error about `entry`. In a mapping, each name has a line of
/// its own.
static int lineOf(const JobEntry &entry, const std::string &error) {
  using Value = JobEntry::Value;
  auto lineWhere = [&](auto texts) {
    for (const Value &value : entry.values)
      for (const std::string &text : texts(value))
        if (!value.name.empty() && error.find(text) != std::string::npos)
          return value.line;
    return 0;
  };
  // An error names what is wrong before it suggests other names, which may be
  // those of other lines.
  int line = lineWhere([](const Value &value) {
    return std::array{"-data " + value.name + "="};
  });
  if (line == 0)
    line = lineWhere([](const Value &value) {
      return std::array{"'" + value.name + "'",
                        "'" + value.name + "=" + value.text + "'",
                        "'" + value.text + "'"};
    });
  return line == 0 ? entry.line : line;
}

/// The keys, with those of data last. Without data, little can be checked, so
/// these keys would be blamed for many errors.
static std::vector<const JobEntry *>
inOrderOfBlame(const std::vector<JobEntry> &entries) {
  std::vector<const JobEntry *> order;
  order.reserve(entries.size());
  for (const JobEntry &entry : entries)
    order.push_back(&entry);
  std::stable_partition(order.begin(), order.end(), [](const JobEntry *entry) {
    return entry->key != "data" && entry->key != "text" &&
           entry->key != "tokens" && entry->key != "synthetic";
  });
  return order;
}

/// Reports an error at the first key without which there is no error. If there
/// is no such key, several keys may be wrong: reports it at the first key
/// without which the error is a different one.
bool Job::blame(const std::string &error,
                Arguments (Job::*build)(const JobEntry *without) const,
                const std::function<std::string(const Arguments &)> &check) {
  if (error.empty())
    return true;
  const Arguments all = (this->*build)(nullptr);
  const JobEntry *first = nullptr;
  for (const JobEntry *entry : inOrderOfBlame(entries)) {
    Arguments fewer = (this->*build)(entry);
    if (fewer == all)
      continue;
    std::string other = check(fewer);
    if (!other.empty() && (other == error || first))
      continue;
    first = entry;
    if (other.empty())
      break;
  }
  if (!first)
    return fail(find("model")->line, error);
  std::string prefix = "--" + first->key + ": ";
  return fail(
      lineOf(*first, error),
      first->key + ": " +
          (error.starts_with(prefix) ? error.substr(prefix.size()) : error));
}

bool Job::checkCommands() {
  auto check = [this](const Arguments &arguments) {
    return errorOfCompile(arguments);
  };
  if (!blame(errorOfCompile(compileArguments()), &Job::compileArguments, check))
    return false;
  // Parse the whole command line again, because the last one that was parsed
  // may have lacked a key.
  (void)errorOfCompile(compileArguments());
  return blame(errorOfTrain(trainArguments()), &Job::trainArguments,
               errorOfTrain);
}

/// Checks options that can be parsed but may still be wrong.
bool Job::checkTrain(driver::TrainCheck what) {
  auto check = [what](const Arguments &arguments) {
    return driver::checkTrain(pointersTo(arguments), what);
  };
  return blame(check(trainArguments()), &Job::trainArguments, check);
}

/// Whether a partition, a profile or a table fits the model can be checked only
/// after the model has been read.
bool Job::checkPartition() {
  if (!find("partition") && !find("profile") && !find("machine-table"))
    return true;
  auto *errorOf = reinterpret_cast<compiler::CheckPartition *>(
      driver::loadCompiler("run", compiler::checkPartitionSymbol));
  if (!errorOf)
    return false;
  auto check = [&](const Arguments &arguments) -> std::optional<std::string> {
    std::vector<const char *> argv = pointersTo(arguments);
    std::string error;
    if (!errorOf(static_cast<int>(argv.size()), argv.data(), error))
      return std::nullopt;
    return error;
  };
  std::optional<std::string> error = check(compileArguments());
  return error &&
         blame(*error, &Job::compileArguments, [&](const Arguments &arguments) {
           return check(arguments).value_or("no model");
         });
}
