//===- RunCommand.cpp - `veeline run`: a job from a file ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Job.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <set>
#include <unistd.h>

using namespace veeline;
using compiler::JobEntry;
using driver::Job;

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
  // Without the key, the table is that of the user who compiled.
  if (!find("machine-table"))
    found.erase("machine-table");
  Options all = found;
  all.insert(expected.begin(), expected.end());
  for (const auto &[name, value] : all) {
    // Empty if the option was not given.
    const std::string &recorded = found[name];
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

/// Checks that the artifact matches this job.
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

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

int Job::compile() {
  Arguments arguments = compileArguments();
  // Not an option of the artifact, so it is not recorded.
  if (options.quiet &&
      std::ranges::find(arguments, "--quiet") == arguments.end())
    arguments.emplace_back("--quiet");
  std::vector<const char *> argv = pointersTo(arguments);
  return driver::runCompiler(static_cast<int>(argv.size()), argv.data());
}

/// Replaces this process by one without the compiler. Returns only after an
/// error.
int Job::train() {
  Arguments arguments = trainArguments();
  // What a log in JSON says is for programs, which the job's key asks for.
  if (options.quiet && textOf("log", "text") != "json")
    arguments.emplace_back("--quiet");
  std::vector<const char *> argv = pointersTo(arguments);
  argv.push_back(nullptr);
  std::cout.flush();
  std::fflush(stdout);
  ::execv("/proc/self/exe", const_cast<char *const *>(argv.data()));
  commandline::printError(std::string("cannot start 'veeline train': ") +
                          std::strerror(errno));
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
  std::optional<RunRecord> before;
  if (isWriter && (!prepareFolder() || !readRecord(before)))
    return 1;
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
  bool compiles = options.compileOnly || (!isLaunched && !isCompiled(before));
  std::optional<driver::KeptFile> artifactBefore;
  if (compiles) {
    if (!checkPartition())
      return 1;
    if (!options.compileOnly)
      artifactBefore.emplace(artifactPath);
    if (int status = compile())
      return status;
  }
  if (!checkArtifact(!isLaunched))
    return 1;
  if (options.compileOnly)
    return 0;
  if (!checkTrain(driver::TrainCheck::artifact))
    return 1;
  if (artifactBefore)
    artifactBefore->drop();
  int32_t processes = isLaunched ? (*place)->numRanks : 1;
  if (isWriter && !recordRun(before, processes))
    return 1;
  return train();
}

std::function<int()> driver::addRunCommand(CLI::App &app) {
  auto options = std::make_shared<Job::Options>();
  CLI::App &run = *app.add_subcommand(
      "run", "Compile a model and train it as a YAML file says");
  run.add_option("job", options->file,
                 "The file; its keys are options of compile and train, and "
                 "model, artifact, machines, batch-size, data, directory")
      ->required()
      ->type_name("JOB.yaml");
  run.add_flag("--compile-only", options->compileOnly,
               "Write the artifact, and do not train");
  run.add_flag("--print", options->print,
               "Print the commands that the file stands for, and do nothing");
  run.add_flag("-q,--quiet", options->quiet,
               "Print nothing but errors, remarks, and what checks find");
  return [options] { return Job(*options).run(); };
}
