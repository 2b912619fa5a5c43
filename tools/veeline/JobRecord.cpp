//===- JobRecord.cpp - the record of a run, in its folder -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The folder of a run has what is needed to repeat it: run.json and copies of
// the files that are compiled (docs/long-runs.md).
//
//===----------------------------------------------------------------------===//

#include "Job.h"

#include "Checkpoint.h"
#include "veeline/Base/File.h"
#include "veeline/gemm.h"
#include "veeline/inventory.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <unistd.h>

using namespace veeline;
using driver::Job;
using driver::RecordedFile;
using driver::RecordedStart;
using driver::RunRecord;

/// Reads the record of earlier starts from the folder. None if there is no
/// record. An invalid record is an error of the job.
bool Job::readRecord(std::optional<RunRecord> &record) {
  // Where it is not known whether there is one, reading it tells why.
  if (std::error_code error;
      folder.empty() ||
      (!std::filesystem::exists(inFolder(recordName), error) && !error))
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

/// The step of the last row of a file with metrics, or 0.
static int64_t lastRowOf(const std::string &path) {
  auto file = MappedFile::open(path);
  int64_t step = 0;
  if (file.ok())
    if (size_t end = file->bytes().rfind('\n'); end != std::string_view::npos) {
      std::string_view rows = file->bytes().substr(0, end);
      std::string_view row = rows.substr(rows.rfind('\n') + 1);
      std::from_chars(row.data(), row.data() + row.size(), step);
    }
  return step;
}

/// Whether there are checkpoints where there were some: a run does not silently
/// begin anew.
bool Job::checkCheckpoints(const RunRecord &record) {
  if (hasCheckpoint())
    return true;
  int64_t before = 0;
  for (const RecordedStart &start : record.starts)
    before = std::max(before, start.afterStep);
  std::string none = "'" + textOf("checkpoint", inFolder("checkpoints")) +
                     "' has no checkpoint";
  if (before == 0)
    return keepRows(none);
  return fail(*find("directory"),
              "'" + inFolder(recordName) +
                  "' says that the run went on from the checkpoint of step " +
                  std::to_string(before) + ", and " + none +
                  "; bring it back, or delete '" + inFolder(recordName) +
                  "' to begin anew");
}

/// For a run that no start has resumed. Its rows of many steps are an error:
/// there were checkpoints, and they are gone. Where ranks are processes, the
/// first checkpoint may take some steps more than there are between two; rows
/// of as many steps are moved away.
bool Job::keepRows(const std::string &none) {
  std::string metrics = textOf("metrics", inFolder("metrics.csv"));
  int64_t row = lastRowOf(metrics), every = 0;
  if (!checkNumber(*find("every"), every))
    return false;
  if (row > 10 * every)
    return fail(*find("directory"), "'" + metrics + "' has steps up to " +
                                        std::to_string(row) + ", and " + none +
                                        "; bring it back, or move '" + metrics +
                                        "' away to begin anew");
  if (row <= 2 * every)
    return true;
  auto evaluations = textOf("eval-metrics", inFolder("eval-metrics.csv"));
  for (const std::string &path : {metrics, evaluations}) {
    if (lastRowOf(path) == 0)
      continue;
    auto other = moveAside(path, path + ".to-step-" + std::to_string(row));
    if (!other.ok())
      return fail(*find("directory"), other.message());
    commandline::printRemark(none + ", and there was training up to step " +
                             std::to_string(row) +
                             "; it begins anew, and the rows of '" + path +
                             "' are in '" + *other + "' now");
  }
  return true;
}

/// The step of the checkpoint that the run goes on from; 0: none.
int64_t Job::lastGoodStep() const {
  if (!hasCheckpoint())
    return 0;
  std::vector<data::Damage> damages;
  auto opened = data::Checkpoint::openLastGood(
      textOf("checkpoint", inFolder("checkpoints")),
      std::numeric_limits<int64_t>::max(), damages);
  return opened.ok() ? (*opened)->index().step : 0;
}

/// The files that the job names and its commands read, except for the model and
/// data. Each is with its key.
std::vector<std::pair<std::string, std::string>> Job::inputFiles() const {
  static const std::set<std::string> keys = {
      "profile",    "machine-table", "script",      "init",
      "init-names", "lengths",       "eval-lengths"};
  constexpr std::string_view prefix = "file:";
  std::vector<std::pair<std::string, std::string>> files;
  for (const compiler::JobEntry &entry : entries) {
    std::string text = entry.values[0].text;
    if (text.starts_with(prefix))
      files.emplace_back(entry.key, text.substr(prefix.size()));
    else if (keys.contains(entry.key) && text != "none")
      files.emplace_back(entry.key, text);
  }
  return files;
}

/// Whether the existing artifact belongs to this job and to the files that it
/// names, so that the run can continue without compiling.
bool Job::isCompiled(const std::optional<RunRecord> &record) {
  if (!record || !hasCheckpoint())
    return false;
  for (const auto &[key, path] : inputFiles()) {
    if (!compileOptions.contains(key))
      continue;
    Expected<RecordedFile> now = recordFile(path);
    if (!now.ok() ||
        std::ranges::find(record->files, *now) == record->files.end())
      return false;
  }
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

/// The name of this machine's CPU, or an empty string.
static std::string cpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      if (size_t place = line.find(": "); place != std::string::npos)
        return line.substr(place + 2);
  return "";
}

/// The libraries that decide the bits of products on this machine.
std::vector<std::string> Job::productLibraries() const {
  if (textOf("target", "host") != "cuda")
    return {productLibrary()};
  LibraryFiles files = {textOf("cuda-driver", ""), textOf("cublaslt", ""),
                        textOf("nccl", ""), textOf("cudnn", "")};
  Inventory inventory = takeInventory(files, VEELINE_MODULE_DIRECTORY);
  std::vector<std::string> libraries;
  for (const LibraryReport &library : inventory.libraries)
    if (!library.version.empty())
      libraries.push_back(library.name + " " + library.version);
  for (const DeviceReport &device : inventory.devices)
    libraries.push_back(device.name + " " + device.chip);
  return libraries;
}

/// Copies a file that is compiled into the folder, unless the copy is there.
/// The file itself may be such a copy.
Status Job::copyInput(const std::string &key, const std::string &path) const {
  std::filesystem::path copy = std::filesystem::path(inFolder("inputs")) / key /
                               std::filesystem::path(path).filename();
  if (std::error_code error; std::filesystem::equivalent(path, copy, error))
    return Status::success();
  VEELINE_TRY_VALUE(MappedFile file, MappedFile::open(path));
  if (auto old = MappedFile::open(copy);
      old.ok() && old->bytes() == file.bytes())
    return Status::success();
  VEELINE_TRY(makeDirectory(inFolder("inputs")));
  VEELINE_TRY(makeDirectory(copy.parent_path()));
  return writeFileAtomically(copy, file.bytes());
}

/// Records and copies the files that the job names. The parameters with which a
/// run began are not read again once it has a checkpoint.
Status Job::recordInputs(const std::optional<RunRecord> &before,
                         RunRecord &record) const {
  VEELINE_TRY_VALUE(record.job, recordFile(options.file));
  VEELINE_TRY_VALUE(record.model, recordFile(model));
  VEELINE_TRY_VALUE(record.artifact, recordFile(artifactPath));
  VEELINE_TRY(copyInput("model", model));
  for (const auto &[key, path] : inputFiles()) {
    auto isSame = [&](const RecordedFile &file) { return file.file == path; };
    if (key == "init" && before && hasCheckpoint()) {
      std::ranges::copy_if(before->files, std::back_inserter(record.files),
                           isSame);
      continue;
    }
    VEELINE_TRY_VALUE(RecordedFile file, recordFile(path));
    record.files.push_back(std::move(file));
    if (compileOptions.contains(key)) {
      VEELINE_TRY(copyInput(key, path));
    }
  }
  return Status::success();
}

/// Writes the job and everything else that is needed to repeat the run.
Status Job::writeRecord(std::optional<RunRecord> &before, int32_t processes) {
  RunRecord record;
  std::error_code error;
  record.folder = std::filesystem::current_path(error).string();
  VEELINE_TRY(recordInputs(before, record));
  record.seed = textOf("seed", "0");
  record.compile = compileArguments();
  record.compile.insert(record.compile.begin(), "veeline");
  record.train = trainArguments();
  if (before)
    record.starts = std::move(before->starts);
  record.starts.push_back({timeNow(), VEELINE_VERSION, hostName(), cpuName(),
                           productLibraries(), processes, lastGoodStep()});
  VEELINE_TRY_VALUE(MappedFile job, MappedFile::open(options.file));
  VEELINE_TRY(writeFileAtomically(inFolder("job.yaml"), job.bytes()));
  return writeFileAtomically(inFolder(recordName), toText(record));
}

bool Job::recordRun(std::optional<RunRecord> &before, int32_t processes) {
  if (folder.empty())
    return true;
  Status written = writeRecord(before, processes);
  return written.ok() || fail(*find("directory"), written.message());
}
