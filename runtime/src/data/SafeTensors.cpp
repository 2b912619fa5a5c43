//===- SafeTensors.cpp - named arrays in one file -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SafeTensors.h"
#include "ElementNames.h"

#include "veeline/Base/File.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;
using Json = nlohmann::ordered_json;

static constexpr size_t lengthBytes = 8;
/// The limit of the format's reference implementation.
static constexpr uint64_t maxHeaderBytes = 100'000'000;
static constexpr const char *metadataKey = "__metadata__";

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool isListOfSizes(const Json &json) {
  return json.is_array() &&
         std::all_of(json.begin(), json.end(), [](const Json &item) {
           return item.is_number_unsigned() &&
                  item.get<uint64_t>() < (uint64_t(1) << 62);
         });
}

/// Parses an entry of the header. `out` stays empty for an unknown element
/// type.
static Status parseEntry(const Json &json, std::string_view content,
                         std::optional<Tensor> &out) {
  if (!json.is_object() || !json.contains("dtype") ||
      !json["dtype"].is_string() || !json.contains("shape") ||
      !isListOfSizes(json["shape"]) || !json.contains("data_offsets") ||
      !isListOfSizes(json["data_offsets"]) || json["data_offsets"].size() != 2)
    return Status::error("has no valid dtype, shape and data_offsets");
  auto begin = json["data_offsets"][0].get<uint64_t>();
  auto end = json["data_offsets"][1].get<uint64_t>();
  if (begin > end || end > content.size())
    return Status::error(
        "lies outside of the file: it is truncated or damaged");
  const ElementNames *row = findElement(
      &ElementNames::safeTensors, json["dtype"].get_ref<const std::string &>());
  if (!row)
    return Status::success();
  Tensor tensor;
  tensor.type = row->type;
  tensor.shape = json["shape"].get<std::vector<int64_t>>();
  tensor.bytes = content.substr(begin, end - begin);
  std::optional<int64_t> bytes = tensorBytes(tensor.type, tensor.shape);
  if (!bytes || static_cast<uint64_t>(*bytes) != end - begin)
    return Status::error("has " + std::to_string(end - begin) + " bytes, " +
                         describe(tensor.type, tensor.shape) + " takes others");
  out = tensor;
  return Status::success();
}

Expected<NamedTensors> data::parseSafeTensors(std::string_view file) {
  if (file.size() < lengthBytes)
    return Status::error("the file is truncated: it has " +
                         std::to_string(file.size()) + " bytes");
  uint64_t length;
  std::memcpy(&length, file.data(), lengthBytes);
  if (length > maxHeaderBytes)
    return Status::error("it does not begin as a .safetensors file does");
  if (length > file.size() - lengthBytes)
    return Status::error("the file is truncated inside of its header");
  Json header = Json::parse(file.substr(lengthBytes, length), nullptr,
                            /*allow_exceptions=*/false);
  if (!header.is_object())
    return Status::error("its header is malformed");
  std::string_view content = file.substr(lengthBytes + length);
  NamedTensors tensors;
  for (const auto &[name, entry] : header.items()) {
    if (name == metadataKey)
      continue;
    std::optional<Tensor> tensor;
    if (Status status = parseEntry(entry, content, tensor); !status.ok())
      return Status::error("entry '" + name + "' " + status.message());
    if (tensor)
      tensors.emplace_back(name, std::move(*tensor));
  }
  return tensors;
}

const Tensor *data::findTensor(const NamedTensors &tensors,
                               std::string_view name) {
  for (const auto &[candidate, tensor] : tensors)
    if (candidate == name)
      return &tensor;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static std::string_view typeName(DataType type) {
  return findElement(&ElementNames::type, type)->safeTensors;
}

std::string data::safeTensorsHeader(
    const std::vector<SafeTensorsEntry> &entries,
    const std::vector<std::pair<std::string, std::string>> &notes) {
  Json header = Json::object();
  for (const auto &[key, value] : notes)
    header[metadataKey][key] = value;
  int64_t offset = 0;
  for (const SafeTensorsEntry &entry : entries) {
    int64_t end = offset + artifact::bytesOf(entry.type, entry.shape);
    header[entry.name] = {{"dtype", std::string(typeName(entry.type))},
                          {"shape", entry.shape},
                          {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text =
      header.dump(-1, ' ', false, Json::error_handler_t::replace);
  text.resize((text.size() + lengthBytes - 1) / lengthBytes * lengthBytes, ' ');
  uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), lengthBytes) +
         text;
}

Status data::writeSafeTensors(
    const std::string &path, const std::vector<SafeTensorsEntry> &entries,
    const std::vector<std::pair<std::string, std::string>> &notes,
    const std::function<Status(size_t i, char *bytes)> &read, FileSum *sum) {
  AtomicFile file(path);
  VEELINE_TRY(file.open());
  auto write = [&](const std::string &content) {
    if (sum) {
      sum->bytes += static_cast<int64_t>(content.size());
      sum->checksum.add(content);
    }
    return file.write(content);
  };
  VEELINE_TRY(write(safeTensorsHeader(entries, notes)));
  std::string bytes;
  for (size_t i = 0; i < entries.size(); ++i) {
    bytes.resize(static_cast<size_t>(
        artifact::bytesOf(entries[i].type, entries[i].shape)));
    VEELINE_TRY(read(i, bytes.data()));
    VEELINE_TRY(write(bytes));
  }
  return file.commit();
}
