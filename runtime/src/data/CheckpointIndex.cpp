//===- CheckpointIndex.cpp - the index of a checkpoint --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CheckpointIndex.h"

#include "JsonFields.h"
#include "NameMap.h"
#include "Tensor.h"
#include "veeline/Base/Checksum.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>

using namespace veeline;
using namespace veeline::data;

namespace veeline::data {
using artifact::Is;
using artifact::MayBeMissing;

template <typename Visitor, Is<CheckpointPiece> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("file", self.file);
  visit("bytes", self.bytes);
  visit("checksum", self.checksum);
}

template <typename Visitor, Is<ParamInFile> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("name", self.name);
  visit("type", self.type);
  visit("order", self.order);
}

template <typename Visitor, Is<CheckpointParam> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("name", self.name);
  visit("type", self.type);
  visit("shape", self.shape);
  visit("older_values", self.olderValues);
  visit("frozen", self.frozen, MayBeMissing());
  visit("in_file", self.inFile, MayBeMissing());
}

template <typename Visitor, Is<DataPosition> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("argument", self.argument);
  visit("epoch", self.epoch);
  visit("sample", self.sample);
}

template <typename Visitor, Is<ScaledStep> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("loss_scale", self.lossScale);
  visit("overflows", self.overflows);
}

template <typename Visitor, Is<LossScaleState> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("loss_scale", self.lossScale);
  visit("steps_in_window", self.stepsInWindow);
  visit("last_steps", self.lastSteps);
}

template <typename Visitor, Is<CheckpointIndex> Self>
void visitFields(Visitor &&visit, Self &self) {
  visit("version", self.version);
  visit("model", self.model);
  visit("optimizer", self.optimizer);
  visit("error_feedback", self.errorFeedback);
  visit("step", self.step);
  visit("updates", self.updates);
  visit("owes_evaluation", self.owesEvaluation, MayBeMissing());
  visit("loss_scale", self.lossScale);
  visit("data", self.data);
  visit("options", self.options);
  visit("params", self.params);
  visit("pieces", self.pieces);
  visit("checksum", self.checksum);
}
} // namespace veeline::data

std::string data::formatChecksum(uint64_t checksum) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016lx",
                static_cast<unsigned long>(checksum));
  return text;
}

static std::string dump(const CheckpointIndex &index) {
  return artifact::json::dump(artifact::json::toJsonValue(index), 1) + "\n";
}

static std::string checksumOf(std::string_view text) {
  Crc64 crc;
  crc.add(text);
  return formatChecksum(crc.value());
}

std::string data::toText(CheckpointIndex index) {
  index.checksum.clear();
  index.checksum = checksumOf(dump(index));
  return dump(index);
}

/// Whether `text` has the checksum that it states. The checksum is of the text
/// itself, because older versions have fewer members.
static bool hasChecksum(std::string_view text, const std::string &checksum) {
  size_t place = checksum.empty() ? text.npos : text.rfind(checksum);
  if (place == text.npos)
    return false;
  std::string without(text);
  without.erase(place, checksum.size());
  return checksumOf(without) == checksum;
}

/// Whether `name` is the name of a file in the same folder.
static bool isPlainName(const std::string &name) {
  return !name.empty() && name[0] != '.' &&
         name.find_first_of(std::string("/\0", 2)) == std::string::npos;
}

static Status checkParam(const CheckpointParam &param) {
  bool isFloat = param.type == artifact::DataType::f32 ||
                 param.type == artifact::DataType::f64;
  bool isRight =
      isFloat && tensorBytes(param.type, param.shape) && param.olderValues >= 0;
  return isRight ? Status::success()
                 : Status::error("parameter '" + param.name +
                                 "' has no valid type, shape and number of "
                                 "older values");
}

/// Whether what it says of the file of --init can be.
static Status checkInFile(const CheckpointParam &param) {
  if (!param.inFile)
    return Status::success();
  using artifact::DataType;
  DataType type = param.inFile->type;
  bool isFloat = type == DataType::f32 || type == DataType::f64 ||
                 type == DataType::bf16 || type == DataType::f16;
  bool isRight = isFloat && !param.inFile->name.empty() &&
                 isOrderOf(param.inFile->order, param.shape.size());
  return isRight ? Status::success()
                 : Status::error("parameter '" + param.name +
                                 "' has no valid name, type and layout in the "
                                 "file that it came from");
}

static bool isScale(double scale) { return std::isfinite(scale) && scale > 0; }

static Status checkNumbers(const CheckpointIndex &index) {
  bool isRight = index.step >= 1 && index.updates >= 0 &&
                 isScale(index.lossScale.lossScale) &&
                 index.lossScale.stepsInWindow >= 0;
  for (const ScaledStep &step : index.lossScale.lastSteps)
    isRight = isRight && isScale(step.lossScale);
  for (const DataPosition &position : index.data)
    isRight = isRight && position.epoch >= 0 && position.sample >= 0;
  return isRight ? Status::success()
                 : Status::error("a step, a number of updates, a loss scale or "
                                 "a position in data is none");
}

static Status check(const CheckpointIndex &index) {
  VEELINE_TRY(checkNumbers(index));
  std::set<std::string> names, namesInFile, files;
  for (const CheckpointParam &param : index.params) {
    VEELINE_TRY(checkParam(param));
    VEELINE_TRY(checkInFile(param));
    if (!names.insert(param.name).second ||
        !namesInFile.insert(param.nameInFile()).second)
      return Status::error("parameter '" + param.name + "' is there twice");
  }
  for (const CheckpointPiece &piece : index.pieces)
    if (!isPlainName(piece.file) || piece.bytes < 0 ||
        !files.insert(piece.file).second)
      return Status::error("'" + piece.file +
                           "' is not the name of a piece, or is there twice");
  return Status::success();
}

Expected<CheckpointIndex> data::parseCheckpointIndex(std::string_view text) {
  CheckpointIndex index;
  VEELINE_TRY(artifact::json::parse(text, "it", index));
  if (index.version < CheckpointIndex::oldestFormatVersion ||
      index.version > CheckpointIndex::formatVersion)
    return Status::error("it has version " + std::to_string(index.version) +
                         " of the format, and this program reads versions " +
                         std::to_string(CheckpointIndex::oldestFormatVersion) +
                         " to " +
                         std::to_string(CheckpointIndex::formatVersion));
  if (!hasChecksum(text, index.checksum))
    return Status::error("its checksum is another: it is damaged");
  VEELINE_TRY(check(index));
  return index;
}

std::string data::valueEntry(const std::string &param) {
  return "value/" + param;
}
std::string data::stateEntry(const std::string &param, int64_t slot) {
  return "state." + std::to_string(slot) + "/" + param;
}
static constexpr std::string_view partPrefix = "part.";

std::string data::partEntry(const std::string &entry, int64_t first) {
  return std::string(partPrefix) + std::to_string(first) + "/" + entry;
}
std::optional<std::pair<std::string, int64_t>>
data::parsePartEntry(std::string_view name) {
  if (!name.starts_with(partPrefix))
    return std::nullopt;
  int64_t first = 0;
  const char *end = name.data() + name.size();
  auto [rest, error] =
      std::from_chars(name.data() + partPrefix.size(), end, first);
  if (error != std::errc() || rest == end || *rest != '/' || first < 0)
    return std::nullopt;
  return std::pair(std::string(rest + 1, end), first);
}
std::string data::olderEntry(const std::string &param, int64_t age) {
  return "older." + std::to_string(age) + "/" + param;
}
