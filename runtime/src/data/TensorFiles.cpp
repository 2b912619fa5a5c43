//===- TensorFiles.cpp - parameters in one file or several ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TensorFiles.h"

#include "SafeTensors.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

using namespace veeline;
using namespace veeline::data;
using Json = nlohmann::ordered_json;

static Status isNotThere(const std::string &path, const std::string &file,
                         const std::string &tensor) {
  return Status::error("'" + path + "' says that '" + file + "' has '" +
                       tensor + "', but it has not");
}

static Status cannotRead(const std::string &path, const std::string &why) {
  return Status::error("cannot read '" + path + "': " + why);
}

Expected<std::map<std::string, std::string>>
data::parseShardIndex(std::string_view text) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object() || !json.contains("weight_map") ||
      !json["weight_map"].is_object())
    return Status::error("it has no 'weight_map', which says which file has "
                         "which tensor");
  std::map<std::string, std::string> shards;
  for (const auto &[name, file] : json["weight_map"].items()) {
    const auto *text = file.get_ptr<const Json::string_t *>();
    if (!text || text->empty() || text->find('/') != std::string::npos)
      return Status::error("the file of '" + name +
                           "' is not the name of one beside it");
    shards[name] = *text;
  }
  return shards;
}

/// Adds the tensors of a file. If there are several files, adds those that the
/// index assigns to this one.
Status TensorFiles::add(const std::string &path,
                        const std::map<std::string, std::string> *shards) {
  VEELINE_TRY_VALUE(MappedFile file, MappedFile::open(path));
  Expected<NamedTensors> parsed = parseSafeTensors(file.bytes());
  if (!parsed.ok())
    return cannotRead(path, parsed.message());
  std::string name = std::filesystem::path(path).filename().string();
  for (const auto &[tensor, content] : *parsed) {
    auto it = shards ? shards->find(tensor) : decltype(shards->end())();
    if (!shards || (it != shards->end() && it->second == name))
      tensors.emplace(tensor, content);
  }
  files.push_back(std::move(file));
  return Status::success();
}

Expected<TensorFiles> TensorFiles::open(const std::string &path) {
  TensorFiles opened;
  if (!path.ends_with(".index.json")) {
    VEELINE_TRY(opened.add(path, nullptr));
    return opened;
  }
  VEELINE_TRY_VALUE(MappedFile index, MappedFile::open(path));
  Expected<std::map<std::string, std::string>> shards =
      parseShardIndex(index.bytes());
  if (!shards.ok())
    return cannotRead(path, shards.message());
  std::set<std::string> names;
  for (const auto &[tensor, file] : *shards)
    names.insert(file);
  for (const std::string &name : names)
    VEELINE_TRY(opened.add(
        (std::filesystem::path(path).parent_path() / name).string(), &*shards));
  for (const auto &[tensor, file] : *shards)
    if (!opened.find(tensor))
      return isNotThere(path, file, tensor);
  return opened;
}

const Tensor *TensorFiles::find(const std::string &name) const {
  auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : &it->second;
}

std::string TensorFiles::describe() const {
  std::string text;
  for (const MappedFile &file : files)
    text += (text.empty() ? "" : ", ") + describeContent(file.bytes());
  return text;
}
