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
#include "veeline/Base/FolderLock.h"

#include <filesystem>
#include <unistd.h>

using namespace veeline;
using driver::Job;

std::string Job::inFolder(const std::string &name) const {
  return (std::filesystem::path(folder) / name).string();
}

/// The path without links and dots, whether there is such a file or not.
static std::filesystem::path fullPath(const std::string &path) {
  std::error_code error;
  return std::filesystem::weakly_canonical(
      std::filesystem::absolute(path, error), error);
}

bool Job::readFolder() {
  const compiler::JobEntry *entry = find("directory");
  if (!entry)
    return true;
  folder = entry->values[0].text;
  if (folder.empty())
    return fail(*entry, "expected the name of a folder");
  const compiler::JobEntry *checkpoint = find("checkpoint");
  if (checkpoint && fullPath(checkpoint->values[0].text) == fullPath(folder))
    return fail(*checkpoint, "checkpoints are in a folder of their own; leave "
                             "the key out, for '" +
                                 inFolder("checkpoints") + "'");
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
  if (!find("resume") || hasCheckpoint())
    arguments.emplace_back("--continue");
}

/// Whether to leave out an entry: `resume` names a checkpoint of another run
/// where this one begins. Once this run has a checkpoint, it continues from
/// that.
bool Job::isPassed(const compiler::JobEntry &entry) const {
  return entry.key == "resume" && !folder.empty() && hasCheckpoint();
}

/// Whether the run has a checkpoint. Also true where the file system cannot
/// say: opening it then tells why.
bool Job::hasCheckpoint() const {
  auto steps =
      data::listCheckpoints(textOf("checkpoint", inFolder("checkpoints")));
  return !steps.ok() || !steps->empty();
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
  Expected<std::optional<FolderLock>> lock =
      FolderLock::take(folder, /*waits=*/true);
  if (!lock.ok())
    return fail(*find("directory"), lock.message());
  if (*lock) {
    (*lock)->keep();
    return true;
  }
  return fail(*find("directory"),
              "another run is at work in '" + folder +
                  "'; wait until it has ended, or take another directory");
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
