//===- VPipeKeys.cpp - keys of VPipe's job files --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VPipeKeys.h"

#include <cstdlib>

using namespace veeline;
using compiler::JobEntry;
using driver::JobError;

static bool namesFile(const JobEntry &entry) {
  return entry.key == "partition" && entry.kind == JobEntry::Kind::Scalar &&
         entry.values[0].text.ends_with(".json");
}

/// Replaces `entry`, which names a file, by the entries of the file.
static std::optional<JobError> readPartition(compiler::ReadJobFile &read,
                                             const JobEntry &entry,
                                             std::vector<JobEntry> &entries) {
  std::vector<JobEntry> ofFile;
  std::string error;
  if (!read(entry.values[0].text, ofFile, error))
    return JobError{entry, error};
  bool hasPartition = false;
  for (JobEntry &found : ofFile) {
    bool isPartition = found.key == "partition";
    hasPartition |= isPartition;
    if (!isPartition && found.key != "recompute_ratio" &&
        found.key != "sync_mode")
      return JobError{entry, "'" + entry.values[0].text + "' has the key '" +
                                 found.key +
                                 "'; expected 'partition', 'recompute_ratio' "
                                 "and 'sync_mode'"};
    // Errors are reported at the line of the job file.
    found.line = entry.line;
    for (JobEntry::Value &value : found.values)
      value.line = entry.line;
    entries.push_back(found);
  }
  if (!hasPartition)
    return JobError{entry, "'" + entry.values[0].text +
                               "' has no key 'partition', the pieces of each "
                               "stage"};
  return std::nullopt;
}

/// The policies for the ratios 0 and 1, also as "0.0", have names.
static std::string toPolicy(const std::string &ratio) {
  char *end = nullptr;
  double value = std::strtod(ratio.c_str(), &end);
  bool isNumber = !ratio.empty() && *end == '\0';
  return isNumber && value == 0   ? "none"
         : isNumber && value == 1 ? "full"
                                  : ratio;
}

static std::optional<JobError> translate(JobEntry &entry) {
  if (entry.key == "recompute_ratio") {
    entry.key = "recompute";
    for (JobEntry::Value &value : entry.values)
      value.text = toPolicy(value.text);
  } else if (entry.key == "sync_mode") {
    const std::string &mode = entry.values[0].text;
    bool isKnown = entry.kind == JobEntry::Kind::Scalar &&
                   (mode == "bsp" || mode == "asp");
    if (!isKnown)
      return JobError{entry, "expected bsp, for schedule 1f1b, or asp, for "
                             "pipedream, found '" +
                                 mode + "'"};
    entry.key = "schedule";
    entry.values[0].text = mode == "bsp" ? "1f1b" : "pipedream";
  }
  return std::nullopt;
}

std::optional<JobError>
driver::translateVPipeKeys(compiler::ReadJobFile &read,
                           std::vector<JobEntry> &entries) {
  std::vector<JobEntry> all;
  for (const JobEntry &entry : entries)
    if (!namesFile(entry))
      all.push_back(entry);
    else if (auto error = readPartition(read, entry, all))
      return error;
  entries = all;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (auto error = translate(entries[i]))
      return error;
    for (std::size_t before = 0; before < i; ++before)
      if (entries[before].key == entries[i].key)
        return JobError{all[i], "says the same as '" + all[before].key +
                                    "' in line " +
                                    std::to_string(all[before].line)};
  }
  return std::nullopt;
}
