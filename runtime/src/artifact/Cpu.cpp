//===- Cpu.cpp - features of this machine's processor ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cpu.h"

#include "veeline/artifact.h"

#include <cpuid.h>

using namespace veeline;

namespace {
enum Register : uint8_t { eax, ebx, ecx, edx };

/// Bits of XCR0 that the operating system has to set.
enum State : uint32_t {
  none = 0,
  avx = 0x6,     // xmm, ymm
  avx512 = 0xe6, // and opmask, zmm
  amx = 0x60000  // tile configuration and data
};

struct Feature {
  std::string_view name;
  uint32_t leaf, subleaf;
  Register reg;
  uint8_t bit;
  State state = none;
};
} // namespace

/// See Intel SDM volume 2A, CPUID, and AMD APM volume 3, appendix E.
static constexpr Feature features[] = {
    {"sse3", 1, 0, ecx, 0},
    {"pclmul", 1, 0, ecx, 1},
    {"ssse3", 1, 0, ecx, 9},
    {"fma", 1, 0, ecx, 12, avx},
    {"cx16", 1, 0, ecx, 13},
    {"sse4.1", 1, 0, ecx, 19},
    {"sse4.2", 1, 0, ecx, 20},
    {"movbe", 1, 0, ecx, 22},
    {"popcnt", 1, 0, ecx, 23},
    {"aes", 1, 0, ecx, 25},
    {"xsave", 1, 0, ecx, 26},
    {"avx", 1, 0, ecx, 28, avx},
    {"f16c", 1, 0, ecx, 29, avx},
    {"rdrnd", 1, 0, ecx, 30},
    {"cx8", 1, 0, edx, 8},
    {"cmov", 1, 0, edx, 15},
    {"mmx", 1, 0, edx, 23},
    {"fxsr", 1, 0, edx, 24},
    {"sse", 1, 0, edx, 25},
    {"sse2", 1, 0, edx, 26},
    {"fsgsbase", 7, 0, ebx, 0},
    {"bmi", 7, 0, ebx, 3},
    {"avx2", 7, 0, ebx, 5, avx},
    {"bmi2", 7, 0, ebx, 8},
    {"invpcid", 7, 0, ebx, 10},
    {"avx512f", 7, 0, ebx, 16, avx512},
    {"avx512dq", 7, 0, ebx, 17, avx512},
    {"rdseed", 7, 0, ebx, 18},
    {"adx", 7, 0, ebx, 19},
    {"avx512ifma", 7, 0, ebx, 21, avx512},
    {"clflushopt", 7, 0, ebx, 23},
    {"clwb", 7, 0, ebx, 24},
    {"avx512cd", 7, 0, ebx, 28, avx512},
    {"sha", 7, 0, ebx, 29},
    {"avx512bw", 7, 0, ebx, 30, avx512},
    {"avx512vl", 7, 0, ebx, 31, avx512},
    {"avx512vbmi", 7, 0, ecx, 1, avx512},
    {"waitpkg", 7, 0, ecx, 5},
    {"avx512vbmi2", 7, 0, ecx, 6, avx512},
    {"shstk", 7, 0, ecx, 7},
    {"gfni", 7, 0, ecx, 8},
    {"vaes", 7, 0, ecx, 9, avx},
    {"vpclmulqdq", 7, 0, ecx, 10, avx},
    {"avx512vnni", 7, 0, ecx, 11, avx512},
    {"avx512bitalg", 7, 0, ecx, 12, avx512},
    {"avx512vpopcntdq", 7, 0, ecx, 14, avx512},
    {"rdpid", 7, 0, ecx, 22},
    {"cldemote", 7, 0, ecx, 25},
    {"movdiri", 7, 0, ecx, 27},
    {"movdir64b", 7, 0, ecx, 28},
    {"avx512vp2intersect", 7, 0, edx, 8, avx512},
    {"serialize", 7, 0, edx, 14},
    {"amx-bf16", 7, 0, edx, 22, amx},
    {"avx512fp16", 7, 0, edx, 23, avx512},
    {"amx-tile", 7, 0, edx, 24, amx},
    {"amx-int8", 7, 0, edx, 25, amx},
    {"sha512", 7, 1, eax, 0},
    {"avxvnni", 7, 1, eax, 4, avx},
    {"avx512bf16", 7, 1, eax, 5, avx512},
    {"cmpccxadd", 7, 1, eax, 7},
    {"amx-fp16", 7, 1, eax, 21, amx},
    {"avxifma", 7, 1, eax, 23, avx},
    {"avxvnniint8", 7, 1, edx, 4, avx},
    {"avxneconvert", 7, 1, edx, 5, avx},
    {"amx-complex", 7, 1, edx, 8, amx},
    {"avxvnniint16", 7, 1, edx, 10, avx},
    {"prefetchi", 7, 1, edx, 14},
    {"xsaveopt", 0xd, 1, eax, 0},
    {"xsavec", 0xd, 1, eax, 1},
    {"xsaves", 0xd, 1, eax, 3},
    {"sahf", 0x80000001, 0, ecx, 0},
    {"lzcnt", 0x80000001, 0, ecx, 5},
    {"sse4a", 0x80000001, 0, ecx, 6},
    {"prfchw", 0x80000001, 0, ecx, 8},
    {"xop", 0x80000001, 0, ecx, 11, avx},
    {"fma4", 0x80000001, 0, ecx, 16, avx},
    {"tbm", 0x80000001, 0, ecx, 21},
    {"mwaitx", 0x80000001, 0, ecx, 29},
    {"clzero", 0x80000008, 0, ebx, 0},
    {"rdpru", 0x80000008, 0, ebx, 4},
    {"wbnoinvd", 0x80000008, 0, ebx, 9}};

static const Feature *findFeature(std::string_view name) {
  for (const Feature &feature : features)
    if (feature.name == name)
      return &feature;
  return nullptr;
}

namespace {
class HardwareCpuId final : public CpuId {
public:
  std::array<uint32_t, 4> query(uint32_t leaf,
                                uint32_t subleaf) const override {
    std::array<uint32_t, 4> answer{};
    __get_cpuid_count(leaf, subleaf, &answer[eax], &answer[ebx], &answer[ecx],
                      &answer[edx]);
    return answer;
  }

  uint64_t savedStates() const override {
    constexpr uint32_t osxsave = 1u << 27;
    if (!(query(1, 0)[ecx] & osxsave))
      return 0;
    uint32_t low, high;
    __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (static_cast<uint64_t>(high) << 32) | low;
  }
};
} // namespace

const CpuId &veeline::thisCpu() {
  static const HardwareCpuId cpu;
  return cpu;
}

static bool hasFeature(const Feature &feature, const CpuId &cpu) {
  uint32_t word = cpu.query(feature.leaf, feature.subleaf)[feature.reg];
  bool inHardware = (word >> feature.bit) & 1;
  return inHardware && (cpu.savedStates() & feature.state) == feature.state;
}

std::vector<std::string>
veeline::missingCpuFeatures(const std::vector<std::string> &wanted,
                            const CpuId &cpu) {
  std::vector<std::string> missing;
  for (const std::string &name : wanted) {
    const Feature *feature = findFeature(name);
    if (feature && !hasFeature(*feature, cpu))
      missing.push_back(name);
  }
  return missing;
}

Status artifact::checkCpu(const Metadata &metadata) {
  std::vector<std::string> missing =
      missingCpuFeatures(metadata.cpuFeatures, thisCpu());
  if (missing.empty())
    return Status::success();
  std::string list;
  for (const std::string &name : missing)
    list += (list.empty() ? "" : ", ") + name;
  return Status::error("compiled for the CPU '" + metadata.cpu +
                       "'; this machine's CPU lacks " + list +
                       "; compile the model here, or with --cpu for a CPU "
                       "that this machine can stand in for");
}
