//===- JsonFile.cpp - files of JSON that others have written --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/JsonFile.h"

#include "llvm/ADT/Twine.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>

using namespace llvm;
using namespace veeline;

static constexpr int64_t maxDepth = 64;

/// How deeply lists and objects are nested; where `text` is no JSON, a number
/// that is not smaller than the depth to which it is parsed.
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

Expected<json::Value> veeline::readJson(StringRef path, uint64_t maxBytes) {
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    return createStringError(buffer.getError().message());
  uint64_t bytes = (*buffer)->getBufferSize();
  if (bytes > maxBytes)
    return createStringError("expected at most " + Twine(maxBytes) +
                             " bytes, found " + Twine(bytes));
  return parseJson((*buffer)->getBuffer());
}
