//===- JsonFile.cpp - files of JSON from elsewhere ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/JsonFile.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;
using namespace veeline;

static constexpr int64_t maxDepth = 64;

/// How deeply lists and objects are nested. If `text` is not valid JSON, the
/// result is at least the depth to which the parser gets.
static int64_t getDepth(StringRef text) {
  int64_t depth = 0, deepest = 0;
  bool isInString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (isInString && c == '\\')
      ++i;
    else if (c == '"')
      isInString = !isInString;
    else if (!isInString && (c == '[' || c == '{'))
      deepest = std::max(deepest, ++depth);
    else if (!isInString && (c == ']' || c == '}'))
      --depth;
  }
  return deepest;
}

std::string veeline::printJson(const json::Value *value) {
  if (!value)
    return "none";
  std::string text;
  raw_string_ostream(text) << *value;
  return text;
}

Expected<json::Value> veeline::parseJson(StringRef text) {
  int64_t depth = getDepth(text);
  if (depth > maxDepth)
    return createStringError("no JSON: expected lists and objects in at most " +
                             Twine(maxDepth) + " others, found " +
                             Twine(depth));
  Expected<json::Value> value = json::parse(text);
  if (!value)
    return createStringError("no JSON: " + toString(value.takeError()));
  return value;
}

static Error checkSize(uint64_t bytes, uint64_t maxBytes) {
  if (bytes <= maxBytes)
    return Error::success();
  return createStringError("expected at most " + Twine(maxBytes) +
                           " bytes, found " + Twine(bytes));
}

Expected<json::Value> veeline::readJson(StringRef path, uint64_t maxBytes) {
  uint64_t bytes = 0;
  if (std::error_code error = sys::fs::file_size(path, bytes))
    return createStringError(error.message());
  if (Error error = checkSize(bytes, maxBytes))
    return std::move(error);
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return createStringError(buffer.getError().message());
  // The size of a pipe is known only after it has been read.
  if (Error error = checkSize((*buffer)->getBufferSize(), maxBytes))
    return std::move(error);
  return parseJson((*buffer)->getBuffer());
}
