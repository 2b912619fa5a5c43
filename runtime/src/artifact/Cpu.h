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

/// The results of the instructions cpuid and xgetbv. This is an interface, so
/// that tests can describe other machines.
class CpuId {
public:
  virtual ~CpuId() = default;
  /// Returns eax, ebx, ecx and edx. All are zero if the CPU does not have the
  /// leaf.
  virtual std::array<uint32_t, 4> query(uint32_t leaf,
                                        uint32_t subleaf) const = 0;
  /// The register states that the operating system saves (XCR0).
  virtual uint64_t savedStates() const = 0;
};

/// The machine on which this process runs.
const CpuId &thisCpu();

/// The features that `cpu` lacks, of `features` (LLVM's names), in their order.
/// Names that are not in our table of instruction set extensions are skipped.
std::vector<std::string>
missingCpuFeatures(const std::vector<std::string> &features, const CpuId &cpu);

} // namespace veeline

#endif // VEELINE_RUNTIME_ARTIFACT_CPU_H
