//===- RunCommand.cpp - `veeline run`: a job from a file ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job file has the options of `veeline compile` and `veeline train` in one
// place. Its keys are their options, and a few that both share. The commands'
// own parsers check them, and what they refuse is reported with the line of its
// key.
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"
#include "VPipeKeys.h"

#include "Launch.h"
#include "veeline/Base/CommandLine.h"
#include "veeline/Base/Suggest.h"
#include "veeline/Compiler/JobFile.h"
#include "veeline/Compiler/Options.h"
#include "veeline/artifact.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <unistd.h>
#include <utility>

using namespace veeline;
using commandline::OptionName;
using compiler::JobEntry;

namespace {

/// Keys of VPipe's driver, and options, that have another name here, with it.
constexpr std::pair<std::string_view, std::string_view> equivalents[] = {
    {"module", "'model'"},
    {"batch_size", "'batch-size'"},
    {"learning_rate", "'lr'"},
    {"weight_decay", "'weight-decay'"},
    {"data_dir", "'data' or 'text'"},
    {"checkpoint_dir", "'checkpoint' and 'resume'"},
    {"output", "'artifact'"},
};

class Job {
public:
  struct Options {
    std::string file;
    bool compileOnly = false;
    bool print = false;
  };
  explicit Job(const Options &options) : options(options) {}

  int run();

private:
  using Arguments = std::vector<std::string>;

  bool fail(int line, const std::string &what) {
    commandline::printError(options.file + ":" + std::to_string(line) + ": " +
                            what);
    return false;
  }
  bool fail(const JobEntry &entry, const std::string &what) {
    return fail(entry.line, entry.key + ": " + what);
  }
  const JobEntry *find(const std::string &key) const;
  std::string textOf(const std::string &key, const std::string &none) const;

  bool read();
  bool checkKeys();
  bool checkKey(const JobEntry &entry);
  bool checkPieces(const JobEntry &entry);
  bool readBatchSize();
  bool checkNumber(const JobEntry &entry, int64_t &number);
  bool checkCommands();
  bool checkPartition();
  bool checkTrain(driver::TrainCheck what);
  bool checkMachines();
  bool checkMachine(const JobEntry::Value &value, size_t rank);
  bool checkPlace(const net::Place &place);
  bool checkHost(size_t rank, const std::string &startedBy);
  bool checkOptions(const artifact::Metadata &metadata);
  bool checkArtifact(bool isCompiledHere);

  void addArguments(const JobEntry &entry, const OptionName &option,
                    Arguments &arguments) const;
  Arguments compileArguments(const JobEntry *without = nullptr) const;
  Arguments trainArguments(const JobEntry *without = nullptr) const;
  std::string errorOfCompile(const Arguments &arguments);
  static std::string errorOfTrain(const Arguments &arguments);
  bool blame(const std::string &error,
             Arguments (Job::*build)(const JobEntry *without) const,
             const std::function<std::string(const Arguments &)> &check);
  std::string hostsText() const;
  std::string devicesOfMachines() const;
  std::string numberOfReplicas() const;
  int compile();
  int train();

  const Options options;
  std::vector<JobEntry> entries;
  std::map<std::string, OptionName> compileOptions, trainOptions;
  std::string model, artifactPath;
  std::optional<compiler::CompileCommand> command;
  std::vector<std::string> hosts; ///< By rank; empty: not given.
  std::vector<int32_t> devices;
};

} // namespace

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
      "model", "artifact", "machines", "batch-size", "data", "write-profile"};
  return keys;
}

/// Whether the values of the key are lines 'argument: source'.
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
    return fail(entry, "unknown key" + suggestion(entry.key, known));
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
    if (option.name != "output")
      compileOptions[option.name] = option;
  for (const OptionName &option : driver::listTrainOptions())
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
  std::string beside =
      std::filesystem::path(model).replace_extension(".vee").string();
  artifactPath = textOf("artifact", beside);
  return true;
}

bool Job::checkNumber(const JobEntry &entry, int64_t &number) {
  const std::string &text = entry.values[0].text;
  if (CLI::detail::lexical_cast(text, number) && number >= 1)
    return true;
  return fail(entry,
              "expected a whole number of 1 or more, found '" + text + "'");
}

/// Derives `microbatches` from `batch-size`, if nothing else gives it.
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
  return arguments;
}

Job::Arguments Job::trainArguments(const JobEntry *without) const {
  Arguments arguments = {"veeline", "train", artifactPath};
  for (const JobEntry &entry : entries) {
    if (&entry == without)
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
  return arguments;
}

/// The --device list of `machines`, for GPUs, unless the key `device` is given.
std::string Job::devicesOfMachines() const {
  std::string list;
  if (textOf("target", "host") != "cuda" || find("device"))
    return list;
  for (int32_t device : devices)
    list += (list.empty() ? "" : ",") + std::to_string(device);
  return list;
}

static std::vector<const char *>
pointersTo(const std::vector<std::string> &arguments) {
  std::vector<const char *> pointers;
  pointers.reserve(arguments.size());
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  return pointers;
}

/// What is wrong with a command line; empty: nothing.
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

/// The line of an error about `entry`. In a mapping each name has a line of its
/// own.
static int lineOf(const JobEntry &entry, const std::string &error) {
  for (const JobEntry::Value &value : entry.values)
    if (!value.name.empty() &&
        (error.find("--data " + value.name + "=") != std::string::npos ||
         error.find("'" + value.name + "'") != std::string::npos ||
         error.find("'" + value.name + "=" + value.text + "'") !=
             std::string::npos ||
         error.find("'" + value.text + "'") != std::string::npos))
      return value.line;
  return entry.line;
}

/// Reports an error at the first key without which there is none. If there is
/// no such key, at the first without which the error is another one: several
/// may be wrong.
bool Job::blame(const std::string &error,
                Arguments (Job::*build)(const JobEntry *without) const,
                const std::function<std::string(const Arguments &)> &check) {
  if (error.empty())
    return true;
  const Arguments all = (this->*build)(nullptr);
  const JobEntry *first = nullptr;
  for (const JobEntry &entry : entries) {
    Arguments fewer = (this->*build)(&entry);
    if (fewer == all)
      continue;
    std::string other = check(fewer);
    if (!other.empty() && (other == error || first))
      continue;
    first = &entry;
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
  // Sets `command` again: the last one that was parsed may lack a key.
  (void)errorOfCompile(compileArguments());
  return blame(errorOfTrain(trainArguments()), &Job::trainArguments,
               errorOfTrain);
}

/// Checks what may still be wrong with options that parse.
bool Job::checkTrain(driver::TrainCheck what) {
  auto check = [what](const Arguments &arguments) {
    return driver::checkTrain(pointersTo(arguments), what);
  };
  return blame(check(trainArguments()), &Job::trainArguments, check);
}

/// A partition, a profile or a table that does not fit the model is seen only
/// once the model is read.
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

//===----------------------------------------------------------------------===//
// Machines
//===----------------------------------------------------------------------===//

/// Reads the "host:device" of a rank. No two ranks may have the same one.
bool Job::checkMachine(const JobEntry::Value &value, size_t rank) {
  size_t colon = value.text.rfind(':');
  std::string host = value.text.substr(0, colon);
  int32_t device = -1;
  bool isNumber =
      colon != std::string::npos && colon + 1 < value.text.size() &&
      value.text.find_first_not_of("0123456789", colon + 1) ==
          std::string::npos &&
      CLI::detail::lexical_cast(value.text.substr(colon + 1), device);
  std::string where = "machines: rank " + std::to_string(rank);
  if (!isNumber || host.empty())
    return fail(value.line,
                where + ": expected host:device, found '" + value.text + "'");
  for (size_t other = 0; other < hosts.size(); ++other)
    if (hosts[other] == host && devices[other] == device)
      return fail(value.line, where + ": '" + value.text +
                                  "' is that of rank " + std::to_string(other) +
                                  " already");
  hosts.push_back(host);
  devices.push_back(device);
  return true;
}

bool Job::checkMachines() {
  const JobEntry *entry = find("machines");
  if (!entry)
    return true;
  for (size_t rank = 0; rank < entry->values.size(); ++rank)
    if (!checkMachine(entry->values[rank], rank))
      return false;
  const std::vector<int64_t> &widths = command->stageReplicas;
  int64_t ofReplica =
      widths.empty()
          ? command->stages
          : std::accumulate(widths.begin(), widths.end(), int64_t(0));
  int64_t ranks = ofReplica * command->replicas;
  if (static_cast<int64_t>(hosts.size()) != ranks)
    return fail(
        *entry,
        "found " + std::to_string(hosts.size()) +
            ", expected one for each of the " + std::to_string(ranks) +
            " ranks (" + std::to_string(ofReplica) +
            (widths.empty() ? " stages times " : " of all stages times ") +
            numberOfReplicas() + ")");
  return true;
}

std::string Job::numberOfReplicas() const {
  return std::to_string(command->replicas) +
         (command->replicas == 1 ? " replica" : " replicas");
}

/// "a:2,b:2", as mpirun's --host takes it.
std::string Job::hostsText() const {
  std::string text;
  for (size_t i = 0; i < hosts.size();) {
    size_t end = i;
    while (end < hosts.size() && hosts[end] == hosts[i])
      ++end;
    text +=
        (text.empty() ? "" : ",") + hosts[i] + ":" + std::to_string(end - i);
    i = end;
  }
  return text;
}

/// Checks what the launcher says of this process against the file, and sets
/// MASTER_ADDR from it.
bool Job::checkPlace(const net::Place &place) {
  const JobEntry *entry = find("machines");
  if (!entry)
    return true;
  if (place.numRanks != static_cast<int32_t>(hosts.size()))
    return fail(*entry, "found " + std::to_string(hosts.size()) + ", but " +
                            place.launcher + " has started " +
                            std::to_string(place.numRanks) + " processes");
  if (!checkHost(static_cast<size_t>(place.rank),
                 place.launcher + " has started it on"))
    return false;
  if (hosts[0] != "localhost")
    ::setenv("MASTER_ADDR", hosts[0].c_str(), /*overwrite=*/0);
  return true;
}

/// Whether this is the host of the rank; true if the file has an address and
/// not its name.
bool Job::checkHost(size_t rank, const std::string &startedBy) {
  char name[256] = {};
  ::gethostname(name, sizeof(name) - 1);
  const std::string &host = hosts[rank];
  std::string here = name, shortName = here.substr(0, here.find('.'));
  bool isAddress = host == "localhost" ||
                   host.find_first_not_of("0123456789.") == std::string::npos;
  if (isAddress || host == here || host.substr(0, host.find('.')) == shortName)
    return true;
  return fail(find("machines")->values[rank].line,
              "machines: rank " + std::to_string(rank) + " is on '" + host +
                  "', but " + startedBy + " '" + here + "'");
}

//===----------------------------------------------------------------------===//
// The artifact
//===----------------------------------------------------------------------===//

/// Checks that the artifact was compiled with the options of this job.
bool Job::checkOptions(const artifact::Metadata &metadata) {
  using Options = std::map<std::string, std::string>;
  Options found(metadata.options.begin(), metadata.options.end());
  const auto described = compiler::describeOptions(*command);
  Options expected(described.begin(), described.end());
  found.erase("machine-table-date");
  found.erase("shared-cores");
  // Without the key it is the table of whoever compiled.
  if (!find("machine-table"))
    found.erase("machine-table");
  Options all = found;
  all.insert(expected.begin(), expected.end());
  for (const auto &[name, value] : all) {
    const std::string &recorded = found[name]; // Empty: not given.
    if (recorded == expected[name])
      continue;
    const JobEntry *entry = find(name);
    std::string what = "'" + artifactPath + "' was compiled ";
    if (recorded.empty()) {
      what += "without " + (entry ? "it" : name);
    } else {
      what += "with ";
      if (!entry)
        what += name + " ";
      what += "'" + recorded + "'";
    }
    what += "; compile it again: veeline run --compile-only " + options.file;
    return entry ? fail(*entry, what) : fail(find("model")->line, what);
  }
  return true;
}

/// Checks that the artifact is what this job says.
bool Job::checkArtifact(bool isCompiledHere) {
  Expected<artifact::Artifact> read = artifact::readArtifact(artifactPath);
  if (!read.ok()) {
    commandline::printError(
        read.message() + (isCompiledHere
                              ? ""
                              : "; where a launcher starts processes, compile "
                                "first: veeline run --compile-only " +
                                    options.file));
    return false;
  }
  const artifact::Metadata &metadata = read->metadata;
  if (!checkOptions(metadata))
    return false;
  const JobEntry *batch = find("batch-size");
  if (!batch || metadata.batches.empty())
    return true;
  int64_t ofMicrobatch = artifact::countSamples(metadata.batches);
  int64_t perMicrobatch = ofMicrobatch * command->replicas;
  int64_t samples = perMicrobatch * metadata.microbatches, expected = 0;
  if (!checkNumber(*batch, expected))
    return false;
  if (samples == expected)
    return true;
  return fail(*batch,
              "found " + batch->values[0].text + ", but a step takes " +
                  std::to_string(samples) +
                  " samples: " + std::to_string(ofMicrobatch) + " in each of " +
                  std::to_string(metadata.microbatches) + " microbatches of " +
                  numberOfReplicas() +
                  (expected % perMicrobatch == 0
                       ? "; microbatches: " +
                             std::to_string(expected / perMicrobatch) + " fits"
                       : ""));
}

int Job::compile() {
  Arguments arguments = compileArguments();
  std::vector<const char *> argv = pointersTo(arguments);
  return driver::runCompiler(static_cast<int>(argv.size()), argv.data());
}

/// Replaces this process by one without the compiler. Returns after an error.
int Job::train() {
  Arguments arguments = trainArguments();
  std::vector<const char *> argv = pointersTo(arguments);
  argv.push_back(nullptr);
  std::cout.flush();
  ::execv("/proc/self/exe", const_cast<char *const *>(argv.data()));
  commandline::printError("cannot start 'veeline train'");
  return 1;
}

int Job::run() {
  if (!read() || !checkKeys() || !readBatchSize() || !checkCommands() ||
      !checkMachines())
    return 1;
  Expected<std::optional<net::Place>> place = net::findPlace();
  if (!place.ok()) {
    commandline::printError(place.message());
    return 1;
  }
  if (options.print) {
    Arguments arguments = compileArguments();
    arguments.insert(arguments.begin(), "veeline");
    std::cout << driver::quoted(arguments) << "\n"
              << driver::quoted(trainArguments()) << "\n";
    return 0;
  }
  bool isLaunched = place->has_value();
  if (isLaunched && !checkPlace(**place))
    return 1;
  bool isWriter = !isLaunched || (*place)->rank == 0;
  if (!options.compileOnly &&
      !checkTrain(isWriter ? driver::TrainCheck::filesAndResults
                           : driver::TrainCheck::files))
    return 1;
  bool isSpread = std::set<std::string>(hosts.begin(), hosts.end()).size() > 1;
  if (isSpread && !isLaunched && !options.compileOnly) {
    fail(*find("machines"),
         "the ranks are on several hosts, so a launcher has to start them: "
         "mpirun --host " +
             hostsText() + " veeline run " + options.file);
    return 1;
  }
  if (!isLaunched && !options.compileOnly && !hosts.empty() &&
      !checkHost(0, "this is"))
    return 1;
  if (!isLaunched || options.compileOnly) {
    if (!checkPartition())
      return 1;
    if (int status = compile())
      return status;
  }
  if (!checkArtifact(!isLaunched))
    return 1;
  if (options.compileOnly)
    return 0;
  return checkTrain(driver::TrainCheck::artifact) ? train() : 1;
}

std::function<int()> driver::addRunCommand(CLI::App &app) {
  auto options = std::make_shared<Job::Options>();
  CLI::App &run = *app.add_subcommand(
      "run", "Compile a model and train it as a YAML file says");
  run.add_option("job", options->file,
                 "The file: keys are options of compile "
                 "and train, and model, artifact, "
                 "machines, batch-size, data")
      ->required()
      ->type_name("JOB.yaml");
  run.add_flag("--compile-only", options->compileOnly,
               "Write the artifact, and do not train");
  run.add_flag("--print", options->print,
               "Print the commands that the file stands for, and do nothing");
  return [options] { return Job(*options).run(); };
}
