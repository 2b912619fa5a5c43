//===- RunRecord.h - the record in a run's folder ---------------*- C++ -*-===//
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

/// The state of a file when it was read. Paths are those of the job.
struct RecordedFile {
  std::string file;
  int64_t bytes = 0;
  std::string checksum; ///< The CRC-64, as 16 hexadecimal digits.

  bool operator==(const RecordedFile &) const = default;
};

/// One start of `veeline run`.
struct RecordedStart {
  std::string time; ///< "2026-01-31T12:00:00Z"
  std::string version;
  std::string host;
  std::string cpu; ///< The name of its CPU, or empty.
  /// The libraries that decide the bits of products, with their versions.
  std::vector<std::string> libraries;
  int32_t processes = 1;
  /// The step of the checkpoint from which it continues, or 0.
  int64_t afterStep = 0;
};

/// What is needed to repeat a run (docs/long-runs.md), as a JSON file. Version
/// 1 has no `files`, and starts have no `cpu` and no `libraries`.
struct RunRecord {
  static constexpr int64_t formatVersion = 2, oldestFormatVersion = 1;

  int64_t format = formatVersion;
  std::string folder; ///< The folder to which the job's paths are relative.
  RecordedFile job, model, artifact;
  /// What else the job names and its commands read, except for data.
  std::vector<RecordedFile> files;
  std::string seed;
  std::vector<std::string> compile, train; ///< The two commands.
  std::vector<RecordedStart> starts;
};

/// Describes the whole content of a file.
Expected<RecordedFile> recordFile(const std::string &path);

std::string toText(const RunRecord &record);
/// Parses a record. The message of an error does not name the file.
Expected<RunRecord> parseRunRecord(std::string_view text);

} // namespace veeline::driver

#endif // VEELINE_TOOLS_RUNRECORD_H
