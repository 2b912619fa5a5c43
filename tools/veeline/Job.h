//===- Job.h - a job file, and running it -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A job file contains the options of `veeline compile` and `veeline train`. Its
// keys are their options, and a few that both share. The commands' own parsers
// check them, and errors are reported with the line of the key.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TOOLS_JOB_H
#define VEELINE_TOOLS_JOB_H

#include "CommandLine.h"
#include "RunRecord.h"

#include "Launch.h"
#include "veeline/Base/CommandLine.h"
#include "veeline/Compiler/JobFile.h"
#include "veeline/Compiler/Options.h"
#include "veeline/artifact.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace veeline::driver {

/// Keeps the old content of a file, and restores it unless `drop` is called.
/// For a file that is written before it is known whether it can be used. Does
/// nothing if there is no file, or if the file system has no links.
class KeptFile {
public:
  explicit KeptFile(const std::string &path);
  KeptFile(const KeptFile &) = delete;
  ~KeptFile();
  void drop();

private:
  std::string path, other;
  bool isKept = false;
};

/// One job, from its file to the command that trains. Members that return a
/// bool report what is wrong, and then return false.
class Job {
public:
  struct Options {
    std::string file;
    bool compileOnly = false;
    bool print = false;
    bool quiet = false;
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
  bool fail(const compiler::JobEntry &entry, const std::string &what) {
    return fail(entry.line, entry.key + ": " + what);
  }
  const compiler::JobEntry *find(const std::string &key) const;
  std::string textOf(const std::string &key, const std::string &none) const;

  bool read();
  bool checkKeys();
  bool checkKey(const compiler::JobEntry &entry);
  bool checkPieces(const compiler::JobEntry &entry);
  bool readBatchSize();
  bool checkNumber(const compiler::JobEntry &entry, int64_t &number);
  bool checkCommands();
  bool checkPartition();
  bool checkTrain(TrainCheck what);
  bool checkMachines();
  bool checkMachine(const compiler::JobEntry::Value &value, size_t rank);
  bool checkPlace(const net::Place &place);
  bool checkHost(size_t rank, const std::string &startedBy);
  bool checkOptions(const artifact::Metadata &metadata);
  bool checkArtifact(bool isCompiledHere);

  void addArguments(const compiler::JobEntry &entry,
                    const commandline::OptionName &option,
                    Arguments &arguments) const;
  Arguments compileArguments(const compiler::JobEntry *without = nullptr) const;
  Arguments trainArguments(const compiler::JobEntry *without = nullptr) const;
  /// An argv that is valid as long as `arguments`.
  static std::vector<const char *> pointersTo(const Arguments &arguments);
  std::string errorOfCompile(const Arguments &arguments);
  static std::string errorOfTrain(const Arguments &arguments);
  bool blame(const std::string &error,
             Arguments (Job::*build)(const compiler::JobEntry *without) const,
             const std::function<std::string(const Arguments &)> &check);
  std::string inFolder(const std::string &name) const;
  bool readFolder();
  void addFolderArguments(const compiler::JobEntry *without,
                          Arguments &arguments) const;
  bool isPassed(const compiler::JobEntry &entry) const;
  bool hasCheckpoint() const;
  int64_t lastGoodStep() const;
  bool checkCheckpoints(const RunRecord &record);
  bool keepRows(const std::string &none);
  bool readRecord(std::optional<RunRecord> &record);
  bool isCompiled(const std::optional<RunRecord> &record);
  std::vector<std::pair<std::string, std::string>> inputFiles() const;
  std::vector<std::string> productLibraries() const;
  Status copyInput(const std::string &key, const std::string &path) const;
  Status recordInputs(const std::optional<RunRecord> &before,
                      RunRecord &record) const;
  Status writeRecord(std::optional<RunRecord> &before, int32_t processes);
  bool prepareFolder();
  bool recordRun(std::optional<RunRecord> &before, int32_t processes);
  std::string hostsText() const;
  std::string devicesOfMachines() const;
  std::string numberOfReplicas() const;
  int compile();
  int train();

  static constexpr const char *recordName = "run.json";

  const Options options;
  std::string folder; ///< The folder of the run, or empty.
  std::vector<compiler::JobEntry> entries;
  std::map<std::string, commandline::OptionName> compileOptions, trainOptions;
  std::string model, artifactPath;
  std::optional<compiler::CompileCommand> command;
  /// The host of each rank. Empty if not given.
  std::vector<std::string> hosts;
  std::vector<int32_t> devices;
};

} // namespace veeline::driver

#endif // VEELINE_TOOLS_JOB_H
