//===- CpuTest.cpp - CPU features against cpuid ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cpu.h"

#include <gtest/gtest.h>
#include <map>

using namespace veeline;

namespace {
/// A CPU with the bits that a test sets.
class FakeCpu final : public CpuId {
public:
  std::array<uint32_t, 4> query(uint32_t leaf,
                                uint32_t subleaf) const override {
    auto found = leaves.find({leaf, subleaf});
    return found == leaves.end() ? std::array<uint32_t, 4>{} : found->second;
  }
  uint64_t savedStates() const override { return states; }

  std::map<std::pair<uint32_t, uint32_t>, std::array<uint32_t, 4>> leaves;
  uint64_t states = 0;
};
} // namespace

TEST(Cpu, NamesWhatIsMissing) {
  FakeCpu cpu;
  cpu.leaves[{7, 0}] = {0, 1u << 5, 0, 0}; // AVX2
  cpu.states = 0x6;
  EXPECT_EQ(missingCpuFeatures({"avx2", "avx512f", "fma"}, cpu),
            (std::vector<std::string>{"avx512f", "fma"}));
}

TEST(Cpu, NeedsTheOperatingSystemToSaveRegisters) {
  FakeCpu cpu;
  cpu.leaves[{7, 0}] = {0, 1u << 16, 0, 0}; // AVX-512F
  cpu.states = 0x6;
  EXPECT_EQ(missingCpuFeatures({"avx512f"}, cpu).size(), 1u);
  cpu.states = 0xe6;
  EXPECT_TRUE(missingCpuFeatures({"avx512f"}, cpu).empty());
}

TEST(Cpu, SkipsTuningFlags) {
  EXPECT_TRUE(missingCpuFeatures({"prefer-256-bit"}, FakeCpu()).empty());
}

TEST(Cpu, AgreesWithTheCompilersView) {
  auto has = [](const char *name) {
    return missingCpuFeatures({name}, thisCpu()).empty();
  };
  EXPECT_EQ(has("sse4.2"), __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ(has("avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(has("fma"), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(has("avx512f"), __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(has("avx512vl"), __builtin_cpu_supports("avx512vl") != 0);
  EXPECT_EQ(has("avx512vnni"), __builtin_cpu_supports("avx512vnni") != 0);
  EXPECT_EQ(has("avx512bf16"), __builtin_cpu_supports("avx512bf16") != 0);
  EXPECT_EQ(has("gfni"), __builtin_cpu_supports("gfni") != 0);
  EXPECT_EQ(has("xop"), __builtin_cpu_supports("xop") != 0);
}
