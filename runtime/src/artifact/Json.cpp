//===- Json.cpp - an artifact's metadata as JSON --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Json.h"

#include "JsonFields.h"

using namespace veeline;
using namespace veeline::artifact;

std::string artifact::toJson(const Metadata &metadata) {
  return json::dump(json::toJsonValue(metadata), 2) + "\n";
}

std::string artifact::toCompactJson(const Metadata &metadata) {
  return json::dump(json::toJsonValue(metadata), -1);
}

Expected<Metadata> artifact::fromJson(std::string_view text) {
  Metadata metadata;
  VEELINE_TRY(json::parse(text, "the metadata", metadata));
  return metadata;
}
