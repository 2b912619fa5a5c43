//===- PtxValues.h - what PTX computes with ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_PTXVALUES_H
#define VEELINE_TEST_GPU_PTXVALUES_H

#include "Ptx.h"

#include "../standin/Elements.h"

#include <bit>
#include <cmath>
#include <utility>

namespace veeline::gpu {

/// Floats of 16 bits, which compute in f64 and round once: the result is that
/// of one rounding, since f64 has more than twice as many bits (Figueroa, "When
/// is double rounding innocuous?", 1995).
struct F16 {
  uint16_t bits;
  operator double() const { return fromF16(bits); }
  static F16 round(double value) {
    return {std::bit_cast<uint16_t>(static_cast<_Float16>(value))};
  }
};

struct Bf16 {
  uint16_t bits;
  operator double() const { return fromBf16(bits); }
  static Bf16 round(double value) {
    // Rounding to odd keeps what a tie is decided by.
    auto narrow = static_cast<float>(value);
    auto narrowBits = std::bit_cast<uint32_t>(narrow);
    bool isExact = !(narrow < value) && !(narrow > value);
    if (!isExact && std::isfinite(narrow)) {
      bool isAbove = std::abs(double(narrow)) > std::abs(value);
      narrowBits = (narrowBits - isAbove) | 1;
    }
    return {standin::toBf16(std::bit_cast<float>(narrowBits))};
  }
};

/// Two floats in a register, the first one in the low half.
template <typename T> struct Pair { T low, high; };

template <typename T> T sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return T::round(double(a) + double(b));
}

template <typename T> T product(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return T::round(double(a) * double(b));
}

/// a b + c with one rounding. The product is exact in f64; their sum is rounded
/// to odd, which keeps on which side of a tie it is (Boldo and Melquiond,
/// "Emulation of a FMA and correctly rounded sums", 2008).
template <typename T> T multiplyAdd(T a, T b, T c) {
  if constexpr (std::is_floating_point_v<T>)
    return std::fma(a, b, c);
  else {
    double x = double(a) * double(b), y = double(c), sum = x + y;
    double part = sum - x, error = (x - (sum - part)) + (y - part);
    bool isEven = std::bit_cast<uint64_t>(sum) % 2 == 0;
    if (isEven && (error < 0 || error > 0))
      sum = std::nextafter(sum, std::copysign(HUGE_VAL, error));
    return T::round(sum);
  }
}

/// The sign is a bit, so that NaNs have one, too.
template <typename T> T negate(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return -a;
  else
    return {uint16_t(a.bits ^ 0x8000)};
}

template <typename T> T magnitude(T a) {
  if constexpr (std::is_floating_point_v<T>)
    return std::abs(a);
  else
    return {uint16_t(a.bits & 0x7fff)};
}

/// Computes the results of lanes from their sources. They are written last, so
/// that lanes can be computed side by side.
template <auto function, typename Result, typename... Sources, size_t... i>
[[gnu::always_inline]] inline void
computeLanes(uint64_t *results,
             const std::array<const uint64_t *, sizeof...(Sources)> &sources,
             int32_t begin, int32_t end, std::index_sequence<i...>) {
  uint64_t bits[warpSize];
  for (int32_t lane = begin; lane < end; ++lane)
    bits[lane] =
        toBits<Result>(function(fromBits<Sources>(sources[i][lane])...));
  for (int32_t lane = begin; lane < end; ++lane)
    results[lane] = bits[lane];
}

/// Performs an instruction that computes its first operand from the others.
template <auto function, typename Result, typename... Sources>
[[gnu::always_inline]] inline void computeFirst(Warp &warp,
                                                const Instruction &instruction,
                                                int32_t begin, int32_t end) {
  std::array<const uint64_t *, sizeof...(Sources)> sources;
  for (size_t i = 0; i < sources.size(); ++i)
    sources[i] = warp.registers + instruction.operands[i + 1];
  uint64_t *results = warp.registers + instruction.operands[0];
  auto indices = std::index_sequence_for<Sources...>();
  // Of a whole warp, which is the most common case, the number is known.
  if (end - begin == warpSize)
    computeLanes<function, Result, Sources...>(results, sources, 0, warpSize,
                                               indices);
  else
    computeLanes<function, Result, Sources...>(results, sources, begin, end,
                                               indices);
}

template <auto function, typename Result, typename... Sources>
void compute(Warp &warp, const Instruction &instruction, int32_t begin,
             int32_t end) {
  computeFirst<function, Result, Sources...>(warp, instruction, begin, end);
}

#if defined(__x86_64__)
/// The same for processors that compute several lanes at once, and a b + c in
/// one instruction.
template <auto function, typename Result, typename... Sources>
[[gnu::target("avx2,fma")]] void computeWide(Warp &warp,
                                             const Instruction &instruction,
                                             int32_t begin, int32_t end) {
  computeFirst<function, Result, Sources...>(warp, instruction, begin, end);
}
#endif

/// The fastest one that this processor has.
template <auto function, typename Result, typename... Sources>
Action chooseCompute() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return computeWide<function, Result, Sources...>;
#endif
  return compute<function, Result, Sources...>;
}

/// Adds instructions of one type.
class Adder {
public:
  Adder(Opcodes &opcodes, std::string type)
      : opcodes(opcodes), type(std::move(type)) {}

  /// `name` is what precedes the type.
  template <auto function, typename Result, typename... Sources>
  void add(const std::string &name) {
    Opcode opcode;
    opcode.numOperands = 1 + sizeof...(Sources);
    opcode.action = chooseCompute<function, Result, Sources...>();
    opcodes[name + "." + type] = opcode;
  }
  template <auto function, typename T> void unary(const std::string &name) {
    add<function, T, T>(name);
  }
  template <auto function, typename T> void binary(const std::string &name) {
    add<function, T, T, T>(name);
  }
  template <auto function, typename T> void compare(const std::string &name) {
    add<function, bool, T, T>("setp." + name);
  }
  template <typename T> void select() {
    add<[](T a, T b, bool chosen) { return chosen ? a : b; }, T, T, T, bool>(
        "selp");
  }

private:
  Opcodes &opcodes;
  std::string type;
};

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_PTXVALUES_H
