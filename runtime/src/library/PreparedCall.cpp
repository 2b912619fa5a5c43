//===- PreparedCall.cpp - library calls of a rank -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Library/PreparedCall.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::library;

void CallTable::add(std::unique_ptr<PreparedCall> call,
                    int64_t plannedScratch) {
  auto wanted = static_cast<size_t>(call->scratchBytes());
  bool usesExtra = wanted > static_cast<size_t>(plannedScratch);
  if (usesExtra)
    extraScratch.resize(std::max(extraScratch.size(), wanted));
  entries.push_back({std::move(call), plannedScratch, usesExtra, 0});
}

std::map<std::string, int64_t> CallTable::runsByImplementation() const {
  std::map<std::string, int64_t> runs;
  for (const Entry &entry : entries)
    runs[entry.call->implementation()] += entry.runs;
  return runs;
}
