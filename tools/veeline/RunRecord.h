//===- RunRecord.h - what a run's folder says of it -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TOOLS_RUNRECORD_H
#define VEELINE_TOOLS_RUNRECORD_H

#include "veeline/status.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace veeline::driver {

/// A file as it was read. Paths are as the job has them.
struct RecordedFile {
  std::string file;
  int64_t bytes = 0;
  std::string checksum; ///< CRC-64, 16 hexadecimal digits.

  bool operator==(const RecordedFile &) const = default;
};

/// One `veeline run`.
struct RecordedStart {
  std::string time; ///< "2026-01-31T12:00:00Z"
  std::string version;
  std::string host;
  int32_t processes = 1;
  int64_t afterStep = 0; ///< Of the checkpoint that it goes on from, or 0.
};

/// What it takes to repeat a run, docs/long-runs.md: a JSON file.
struct RunRecord {
  static constexpr int64_t formatVersion = 1;

  int64_t format = formatVersion;
  std::string folder; ///< That the job's paths are relative to.
  RecordedFile job, model, artifact;
  std::string seed;
  std::vector<std::string> compile, train; ///< The two commands.
  std::vector<RecordedStart> starts;
};

/// Describes a file's whole content.
Expected<RecordedFile> recordFile(const std::string &path);

std::string toText(const RunRecord &record);
/// The message does not name the file.
Expected<RunRecord> parseRunRecord(std::string_view text);

} // namespace veeline::driver

#endif // VEELINE_TOOLS_RUNRECORD_H
