//===- Cpu.h - features of this machine's processor -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_CPU_H
#define VEELINE_RUNTIME_ARTIFACT_CPU_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace veeline {

/// The answers of the cpuid instruction, and of xgetbv. An interface so that
/// tests can describe other machines.
class CpuId {
public:
  virtual ~CpuId() = default;
  /// eax, ebx, ecx, edx; all zero where the CPU has no such leaf.
  virtual std::array<uint32_t, 4> query(uint32_t leaf,
                                        uint32_t subleaf) const = 0;
  /// The register states that the operating system saves (XCR0).
  virtual uint64_t savedStates() const = 0;
};

/// The machine that we run on.
const CpuId &thisCpu();

/// Those of `features` (LLVM's names) that `cpu` lacks, in their order. Names
/// that are no instruction set extension in our table are skipped.
std::vector<std::string>
missingCpuFeatures(const std::vector<std::string> &features, const CpuId &cpu);

} // namespace veeline

#endif // VEELINE_RUNTIME_ARTIFACT_CPU_H
