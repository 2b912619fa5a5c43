//===- JobFolder.cpp - the folder of a run --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With the key `directory`, all files of a run are in one folder
// (docs/long-runs.md).
//
//===----------------------------------------------------------------------===//

#include "Job.h"

#include "Checkpoint.h"
#include "veeline/Base/File.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <limits>
#include <sys/file.h>
#include <thread>
#include <unistd.h>

using namespace veeline;
using driver::Job;

std::string Job::inFolder(const std::string &name) const {
  return (std::filesystem::path(folder) / name).string();
}

bool Job::readFolder() {
  const compiler::JobEntry *entry = find("directory");
  if (!entry)
    return true;
  folder = entry->values[0].text;
  if (folder.empty())
    return fail(*entry, "expected the name of a folder");
  if (find("every"))
    return true;
  return fail(*entry, "there is no key 'every', the steps between checkpoints, "
                      "so a run that is killed would begin anew");
}

/// Adds the options of train that the folder implies.
void Job::addFolderArguments(const compiler::JobEntry *without,
                             Arguments &arguments) const {
  if (folder.empty() || (without && without->key == "directory"))
    return;
  if (!find("checkpoint"))
    arguments.push_back("--checkpoint=" + inFolder("checkpoints"));
  if (!find("metrics"))
    arguments.push_back("--metrics=" + inFolder("metrics.csv"));
  if (find("eval-every") && !find("eval-metrics"))
    arguments.push_back("--eval-metrics=" + inFolder("eval-metrics.csv"));
  if (!find("resume") || lastStepOfFolder() > 0)
    arguments.emplace_back("--continue");
}

/// Whether to leave out an entry: `resume` names a checkpoint of another run
/// where this one begins. Once this run has a checkpoint, it continues from
/// that.
bool Job::isPassed(const compiler::JobEntry &entry) const {
  return entry.key == "resume" && !folder.empty() && lastStepOfFolder() > 0;
}

/// The last step for which the run has a checkpoint, or 0.
int64_t Job::lastStepOfFolder() const {
  std::vector<int64_t> steps =
      data::listCheckpoints(textOf("checkpoint", inFolder("checkpoints")));
  return steps.empty() ? 0 : steps.back();
}

/// Reads the record of earlier starts from the folder. None if there is no
/// record. An invalid record is an error of the job.
bool Job::readRecord(std::optional<RunRecord> &record) {
  if (std::error_code error;
      folder.empty() || !std::filesystem::exists(inFolder(recordName), error))
    return true;
  auto file = MappedFile::open(inFolder(recordName));
  Expected<RunRecord> parsed = file.ok() ? parseRunRecord(file->bytes())
                                         : Expected<RunRecord>(file.status());
  if (!parsed.ok())
    return fail(*find("directory"), "cannot read '" + inFolder(recordName) +
                                        "': " + parsed.message() +
                                        "; delete it to write another one");
  record = std::move(*parsed);
  return checkCheckpoints(*record);
}

/// Whether there are checkpoints where there were some: a run does not silently
/// begin anew.
bool Job::checkCheckpoints(const RunRecord &record) {
  int64_t before = 0;
  for (const RecordedStart &start : record.starts)
    before = std::max(before, start.afterStep);
  if (before == 0 || lastStepOfFolder() > 0)
    return true;
  return fail(*find("directory"),
              "'" + inFolder(recordName) +
                  "' says that the run went on from "
                  "the checkpoint of step " +
                  std::to_string(before) + ", and '" +
                  textOf("checkpoint", inFolder("checkpoints")) +
                  "' has no checkpoint; bring it back, or delete '" +
                  inFolder(recordName) + "' to begin anew");
}

/// The step of the checkpoint that the run goes on from; 0: none.
int64_t Job::lastGoodStep() const {
  if (lastStepOfFolder() == 0)
    return 0;
  std::vector<data::Damage> damages;
  auto opened = data::Checkpoint::openLastGood(
      textOf("checkpoint", inFolder("checkpoints")),
      std::numeric_limits<int64_t>::max(), damages);
  return opened.ok() ? (*opened)->index().step : 0;
}

/// Whether the existing artifact belongs to this job, so that the run can
/// continue without compiling. The content of files other than the model may
/// have changed.
bool Job::isCompiled(const std::optional<RunRecord> &record) {
  if (!record || lastStepOfFolder() == 0 || find("profile") ||
      find("machine-table") || textOf("schedule", "").starts_with("file:"))
    return false;
  Expected<RecordedFile> now = recordFile(model);
  Expected<RecordedFile> artifact = recordFile(artifactPath);
  commandline::ErrorCapture ignored;
  return now.ok() && artifact.ok() && *now == record->model &&
         *artifact == record->artifact &&
         checkArtifact(/*isCompiledHere=*/true);
}

static std::string timeNow() {
  std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

static std::string hostName() {
  char name[256] = "";
  (void)::gethostname(name, sizeof(name) - 1);
  return name;
}

/// Writes the job and everything else that is needed to repeat the run.
Status Job::writeRecord(std::optional<RunRecord> &before, int32_t processes) {
  RunRecord record;
  std::error_code error;
  record.folder = std::filesystem::current_path(error).string();
  VEELINE_TRY_VALUE(record.job, recordFile(options.file));
  VEELINE_TRY_VALUE(record.model, recordFile(model));
  VEELINE_TRY_VALUE(record.artifact, recordFile(artifactPath));
  record.seed = textOf("seed", "0");
  record.compile = compileArguments();
  record.compile.insert(record.compile.begin(), "veeline");
  record.train = trainArguments();
  if (before)
    record.starts = std::move(before->starts);
  record.starts.push_back(
      {timeNow(), VEELINE_VERSION, hostName(), processes, lastGoodStep()});
  VEELINE_TRY_VALUE(MappedFile job, MappedFile::open(options.file));
  VEELINE_TRY(writeFileAtomically(inFolder("job.yaml"), job.bytes()));
  return writeFileAtomically(inFolder(recordName), toText(record));
}

/// Locks the folder. Returns false if another run has the lock. It is held,
/// also across exec, until the run ends in any way. Succeeds without a lock if
/// the file system has none. A run that was killed just before may need a
/// moment to release it.
static bool lockFolder(const std::string &folder) {
  constexpr int attempts = 20;
  int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  for (int i = 0; i != attempts; ++i) {
    if (descriptor < 0 || ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 ||
        errno != EWOULDBLOCK)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

bool Job::prepareFolder() {
  if (folder.empty())
    return true;
  // If this fails, the next call fails, too.
  std::error_code error;
  std::filesystem::create_directories(
      std::filesystem::path(folder).parent_path(), error);
  Status made = makeDirectory(folder);
  if (!made.ok())
    return fail(*find("directory"), made.message());
  if (lockFolder(folder))
    return true;
  return fail(*find("directory"),
              "another run is at work in '" + folder +
                  "'; wait until it has ended, or take another directory");
}

bool Job::recordRun(std::optional<RunRecord> &before, int32_t processes) {
  if (folder.empty())
    return true;
  Status written = writeRecord(before, processes);
  return written.ok() || fail(*find("directory"), written.message());
}

driver::KeptFile::KeptFile(const std::string &path)
    : path(path), other(path + ".before") {
  (void)::unlink(other.c_str());
  isKept = ::link(path.c_str(), other.c_str()) == 0;
}

driver::KeptFile::~KeptFile() {
  if (isKept)
    (void)::rename(other.c_str(), path.c_str());
}

void driver::KeptFile::drop() {
  if (std::exchange(isKept, false))
    (void)::unlink(other.c_str());
}
