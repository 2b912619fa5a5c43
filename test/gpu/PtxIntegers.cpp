//===- PtxIntegers.cpp - integers and predicates of PTX -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxValues.h"

#include <algorithm>

using namespace veeline::gpu;

template <typename T> static T shiftLeft(T a, uint32_t count) {
  return count < 8 * sizeof(T) ? T(a << count) : T(0);
}

/// Beyond the width, all bits are the sign, or zero.
template <typename T> static T shiftRight(T a, uint32_t count) {
  uint32_t most = 8 * sizeof(T) - 1;
  if (count > most)
    return std::is_signed_v<T> ? T(a >> most) : T(0);
  return T(a >> count);
}

/// The bits of `a` from `position` on; of a signed type, the highest of them is
/// the sign.
template <typename T>
static T extractBits(T a, uint32_t position, uint32_t length) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t width = 8 * sizeof(T);
  position &= 0xff;
  length &= 0xff;
  if (length == 0)
    return 0;
  uint32_t last = std::min(position + length, width) - 1;
  bool fill = std::is_signed_v<T> && (U(a) >> last & 1);
  U field = position < width ? U(a) >> position : 0;
  uint32_t kept = position < width ? std::min(length, width - position) : 0;
  U mask = kept == width ? ~U(0) : (U(1) << kept) - 1;
  return T(fill ? field | ~mask : field & mask);
}

template <typename T> static T highProduct(T a, T b) {
  using Wide =
      std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
  return T(Wide(a) * Wide(b) >> 8 * sizeof(T));
}

/// Additions with a carry flag, which is the last operand.
enum class Carry { add, subtract, multiplyLow, multiplyHigh };

template <typename T, Carry kind, bool isIn, bool isOut>
static void carry(Warp &warp, const Instruction &instruction, int32_t begin,
                  int32_t end) {
  using Wide = unsigned __int128;
  constexpr bool isProduct =
      kind == Carry::multiplyLow || kind == Carry::multiplyHigh;
  constexpr size_t last = isProduct ? 4 : 3;
  const auto &at = instruction.operands;
  for (int32_t lane = begin; lane < end; ++lane) {
    auto a = getRegister<T>(warp, at[1], lane);
    auto b = getRegister<T>(warp, at[2], lane);
    Wide flag = isIn && getRegister<bool>(warp, at[last], lane), sum = flag;
    if constexpr (kind == Carry::add)
      sum += Wide(a) + b;
    else if constexpr (kind == Carry::subtract)
      sum = Wide(a) - b - flag;
    else
      sum += Wide(T(Wide(a) * b >>
                    (kind == Carry::multiplyHigh ? 8 * sizeof(T) : 0))) +
             getRegister<T>(warp, at[3], lane);
    setRegister<T>(warp, at[0], lane, T(sum));
    if (isOut)
      setRegister<bool>(warp, at[last], lane, sum >> 8 * sizeof(T) & 1);
  }
}

template <typename T, Carry kind>
static void addCarry(Opcodes &opcodes, const std::string &name,
                     const std::string &part, const std::string &type) {
  Opcode opcode;
  opcode.numOperands = name == "mad" ? 5 : 4;
  opcode.action = carry<T, kind, false, true>;
  opcodes[name + part + ".cc." + type] = opcode;
  opcode.action = carry<T, kind, true, true>;
  opcodes[name + "c" + part + ".cc." + type] = opcode;
  opcode.action = carry<T, kind, true, false>;
  opcodes[name + "c" + part + "." + type] = opcode;
}

template <typename T>
static void addCarries(Opcodes &opcodes, const std::string &type) {
  addCarry<T, Carry::add>(opcodes, "add", "", type);
  addCarry<T, Carry::subtract>(opcodes, "sub", "", type);
  addCarry<T, Carry::multiplyLow>(opcodes, "mad", ".lo", type);
  addCarry<T, Carry::multiplyHigh>(opcodes, "mad", ".hi", type);
}

/// Shifts two registers, the second one above the first, and takes one.
template <bool isLeft, bool wraps>
static uint32_t funnel(uint32_t low, uint32_t high, uint32_t count) {
  count = wraps ? count & 31 : std::min<uint32_t>(count, 32);
  uint64_t both = uint64_t(high) << 32 | low;
  return uint32_t(isLeft ? both << count >> 32 : both >> count);
}

template <bool isLeft, bool wraps>
static void addFunnel(Opcodes &opcodes, const std::string &name) {
  using W = uint32_t;
  Adder(opcodes, "b32").add<funnel<isLeft, wraps>, W, W, W, W>(name);
}

template <typename T>
static void addOrder(Opcodes &opcodes, const std::string &type) {
  Adder adder(opcodes, type);
  adder.binary<[](T a, T b) { return std::max(a, b); }, T>("max");
  adder.binary<[](T a, T b) { return std::min(a, b); }, T>("min");
  adder.compare<[](T a, T b) { return a == b; }, T>("eq");
  adder.compare<[](T a, T b) { return a != b; }, T>("ne");
  adder.compare<[](T a, T b) { return a < b; }, T>("lt");
  adder.compare<[](T a, T b) { return a <= b; }, T>("le");
  adder.compare<[](T a, T b) { return b < a; }, T>("gt");
  adder.compare<[](T a, T b) { return a >= b; }, T>("ge");
  adder.select<T>();
}

/// Overflow wraps, so sums are those of unsigned numbers.
template <typename T>
static void addInteger(Opcodes &opcodes, const std::string &type) {
  using U = uint64_t;
  Adder adder(opcodes, type);
  adder.binary<[](T a, T b) { return T(U(a) + U(b)); }, T>("add");
  adder.binary<[](T a, T b) { return T(U(a) - U(b)); }, T>("sub");
  adder.binary<[](T a, T b) { return T(U(a) * U(b)); }, T>("mul.lo");
  adder.binary<highProduct<T>, T>("mul.hi");
  adder.add<[](T a, T b, T c) { return T(U(a) * U(b) + U(c)); }, T, T, T, T>(
      "mad.lo");
  // Undefined, but no fault of a GPU.
  adder.binary<[](T a, T b) {
    return b == 0 || (std::is_signed_v<T> && b == T(-1)) ? T(U(0) - U(a) * !!b)
                                                         : T(a / b);
  },
               T>("div");
  adder.binary<[](T a, T b) {
    return b == 0 || (std::is_signed_v<T> && b == T(-1)) ? T(b ? 0 : a)
                                                         : T(a % b);
  },
               T>("rem");
  adder.unary<[](T a) { return T(U(0) - U(a)); }, T>("neg");
  adder.unary<[](T a) { return a < 0 ? T(U(0) - U(a)) : a; }, T>("abs");
  adder.add<shiftRight<T>, T, T, uint32_t>("shr");
  if constexpr (sizeof(T) >= 4)
    adder.add<extractBits<T>, T, T, uint32_t, uint32_t>("bfe");
  addOrder<T>(opcodes, type);
}

template <typename T, typename Wide>
static void addWide(Opcodes &opcodes, const std::string &type) {
  Adder adder(opcodes, type);
  adder.add<[](T a, T b) { return Wide(Wide(a) * Wide(b)); }, Wide, T, T>(
      "mul.wide");
  adder.add<[](T a, T b, Wide c) {
    return Wide(uint64_t(Wide(a) * Wide(b)) + uint64_t(c));
  },
            Wide, T, T, Wide>("mad.wide");
}

template <typename T>
static void addBits(Opcodes &opcodes, const std::string &type) {
  Adder adder(opcodes, type);
  adder.binary<[](T a, T b) { return T(a & b); }, T>("and");
  adder.binary<[](T a, T b) { return T(a | b); }, T>("or");
  adder.binary<[](T a, T b) { return T(a ^ b); }, T>("xor");
  adder.unary<[](T a) { return T(~a); }, T>("not");
  adder.unary<[](T a) { return a; }, T>("mov");
  adder.add<shiftLeft<T>, T, T, uint32_t>("shl");
  adder.compare<[](T a, T b) { return a == b; }, T>("eq");
  adder.compare<[](T a, T b) { return a != b; }, T>("ne");
  adder.select<T>();
  if constexpr (sizeof(T) >= 4) {
    adder.add<[](T a) { return uint32_t(std::popcount(a)); }, uint32_t, T>(
        "popc");
    adder.add<[](T a) { return uint32_t(std::countl_zero(a)); }, uint32_t, T>(
        "clz");
  }
}

static void addPredicates(Opcodes &opcodes) {
  Adder adder(opcodes, "pred");
  adder.binary<[](bool a, bool b) { return a && b; }, bool>("and");
  adder.binary<[](bool a, bool b) { return a || b; }, bool>("or");
  adder.binary<[](bool a, bool b) { return a != b; }, bool>("xor");
  adder.unary<[](bool a) { return !a; }, bool>("not");
  adder.unary<[](bool a) { return a; }, bool>("mov");
}

void veeline::gpu::addIntegers(Opcodes &opcodes) {
  addInteger<uint16_t>(opcodes, "u16");
  addInteger<int16_t>(opcodes, "s16");
  addInteger<uint32_t>(opcodes, "u32");
  addInteger<int32_t>(opcodes, "s32");
  addInteger<uint64_t>(opcodes, "u64");
  addInteger<int64_t>(opcodes, "s64");
  addWide<uint16_t, uint32_t>(opcodes, "u16");
  addWide<int16_t, int32_t>(opcodes, "s16");
  addWide<uint32_t, uint64_t>(opcodes, "u32");
  addWide<int32_t, int64_t>(opcodes, "s32");
  addBits<uint16_t>(opcodes, "b16");
  addBits<uint32_t>(opcodes, "b32");
  addBits<uint64_t>(opcodes, "b64");
  for (const char *type : {"u32", "s32", "b32"})
    addCarries<uint32_t>(opcodes, type);
  for (const char *type : {"u64", "s64", "b64"})
    addCarries<uint64_t>(opcodes, type);
  addFunnel<true, true>(opcodes, "shf.l.wrap");
  addFunnel<true, false>(opcodes, "shf.l.clamp");
  addFunnel<false, true>(opcodes, "shf.r.wrap");
  addFunnel<false, false>(opcodes, "shf.r.clamp");
  addPredicates(opcodes);
}
