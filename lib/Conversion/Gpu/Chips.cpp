//===- Chips.cpp - the supported GPUs -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Chips.h"

#include "llvm/ADT/StringExtras.h"

using namespace veeline;

/// Older chips lack bf16 and asynchronous copies.
static constexpr GpuChip chips[] = {
    {"sm_80", 80, 70, 110},   {"sm_86", 86, 71, 111},
    {"sm_87", 87, 74, 114},   {"sm_89", 89, 78, 118},
    {"sm_90", 90, 78, 118},   {"sm_90a", 90, 80, 120},
    {"sm_100", 100, 86, 128}, {"sm_100a", 100, 86, 128},
    {"sm_103", 103, 88, 129}, {"sm_110", 110, 90, 130},
    {"sm_120", 120, 87, 128}, {"sm_121", 121, 88, 129},
};

llvm::Expected<GpuChip> veeline::findChip(llvm::StringRef name) {
  std::string known;
  for (const GpuChip &chip : chips) {
    if (chip.name == name)
      return chip;
    known += (known.empty() ? "" : ", ") + chip.name.str();
  }
  return llvm::createStringError(std::errc::invalid_argument,
                                 "unknown chip '%s': use one of %s",
                                 name.str().c_str(), known.c_str());
}
