//===- Limits.cpp - limits of memory as text ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Pipelines/Limits.h"

#include "veeline/Base/Text.h"
#include "veeline/Schedule/ProblemOptions.h"

using namespace veeline;

std::string veeline::parseMemoryLimits(std::span<const std::string> texts,
                                       int stages,
                                       std::vector<int64_t> &limits) {
  limits.clear();
  for (const std::string &text : texts) {
    auto bytes = schedule::parseBytes(text);
    if (!bytes)
      return bytes.error().message;
    limits.push_back(*bytes);
  }
  if (limits.size() == 1)
    limits.assign(stages, limits[0]);
  if (limits.size() == static_cast<size_t>(stages))
    return "";
  return "expected one limit or one for each of the " +
         counted(stages, "stage") + ", found " + std::to_string(limits.size());
}
