//===- RunRecord.cpp - the record in a run's folder -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunRecord.h"

#include "CheckpointIndex.h"
#include "JsonFields.h"
#include "veeline/Base/Checksum.h"
#include "veeline/Base/File.h"

using namespace veeline;
using namespace veeline::driver;

namespace veeline::driver {
using artifact::Is;

template <typename Visitor, Is<RecordedFile> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("file", self.file);
  visit("bytes", self.bytes);
  visit("checksum", self.checksum);
}

template <typename Visitor, Is<RecordedStart> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("time", self.time);
  visit("version", self.version);
  visit("host", self.host);
  visit("cpu", self.cpu, artifact::MayBeMissing());
  visit("libraries", self.libraries, artifact::MayBeMissing());
  visit("processes", self.processes);
  visit("after_step", self.afterStep);
}

template <typename Visitor, Is<RunRecord> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("format", self.format);
  visit("folder", self.folder);
  visit("job", self.job);
  visit("model", self.model);
  visit("artifact", self.artifact);
  visit("files", self.files, artifact::MayBeMissing());
  visit("seed", self.seed);
  visit("compile", self.compile);
  visit("train", self.train);
  visit("starts", self.starts);
}
} // namespace veeline::driver

Expected<RecordedFile> driver::recordFile(const std::string &path) {
  VEELINE_TRY_VALUE(MappedFile file, MappedFile::open(path));
  Crc64 crc;
  crc.add(file.bytes());
  return RecordedFile{path, static_cast<int64_t>(file.bytes().size()),
                      data::formatChecksum(crc.value())};
}

std::string driver::toText(const RunRecord &record) {
  return artifact::json::dump(artifact::json::toJsonValue(record), 1) + "\n";
}

Expected<RunRecord> driver::parseRunRecord(std::string_view text) {
  // Check the format first, because another version may have other members.
  auto json = artifact::json::Json::parse(text, nullptr,
                                          /*allow_exceptions=*/false);
  if (json.is_object() && json.contains("format") &&
      json["format"] != RunRecord::oldestFormatVersion &&
      json["format"] != RunRecord::formatVersion)
    return Status::error("it has version " + json["format"].dump() +
                         " of the format, and this program reads versions " +
                         std::to_string(RunRecord::oldestFormatVersion) +
                         " to " + std::to_string(RunRecord::formatVersion));
  RunRecord record;
  VEELINE_TRY(artifact::json::parse(text, "it", record));
  record.format = RunRecord::formatVersion;
  return record;
}
