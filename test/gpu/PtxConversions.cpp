//===- PtxConversions.cpp - conversions and moves of PTX ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxValues.h"

#include <limits>

using namespace veeline::gpu;

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// To a wider register an integer is extended by its own sign.
template <typename To, typename From>
static void addIntegerConversion(Opcodes &opcodes, const std::string &to,
                                 const std::string &from) {
  Adder(opcodes, from).add<[](From a) { return To(a); }, To, From>("cvt." + to);
}

template <typename To>
static void addConversionsTo(Opcodes &opcodes, const std::string &to) {
  addIntegerConversion<To, uint8_t>(opcodes, to, "u8");
  addIntegerConversion<To, int8_t>(opcodes, to, "s8");
  addIntegerConversion<To, uint16_t>(opcodes, to, "u16");
  addIntegerConversion<To, int16_t>(opcodes, to, "s16");
  addIntegerConversion<To, uint32_t>(opcodes, to, "u32");
  addIntegerConversion<To, int32_t>(opcodes, to, "s32");
  addIntegerConversion<To, uint64_t>(opcodes, to, "u64");
  addIntegerConversion<To, int64_t>(opcodes, to, "s64");
}

/// Numbers out of range become the nearest one, NaN zero.
template <typename To> static To saturate(double whole) {
  if (std::isnan(whole))
    return 0;
  constexpr auto least = std::numeric_limits<To>::min(),
                 most = std::numeric_limits<To>::max();
  if (whole <= static_cast<double>(least))
    return least;
  return whole >= static_cast<double>(most) ? most : static_cast<To>(whole);
}

/// To a whole number: to the nearest with ties to even, as the environment does
/// by default, or towards zero, down or up.
template <char mode> static double roundToWhole(double value) {
  return mode == 'n'   ? std::nearbyint(value)
         : mode == 'z' ? std::trunc(value)
         : mode == 'm' ? std::floor(value)
                       : std::ceil(value);
}

template <typename From, char mode>
static void addRounding(Opcodes &opcodes, const std::string &from) {
  Adder adder(opcodes, from);
  std::string name = std::string("cvt.r") + mode + "i.";
  adder.add<[](From a) { return From(roundToWhole<mode>(a)); }, From, From>(
      name + from);
  auto addTo = [&]<typename To>(To *, const char *to) {
    adder.add<[](From a) { return saturate<To>(roundToWhole<mode>(a)); }, To,
              From>(name + to);
  };
  addTo(static_cast<int32_t *>(nullptr), "s32");
  addTo(static_cast<uint32_t *>(nullptr), "u32");
  addTo(static_cast<int64_t *>(nullptr), "s64");
  addTo(static_cast<uint64_t *>(nullptr), "u64");
}

template <typename From>
static void addRoundings(Opcodes &opcodes, const std::string &from) {
  addRounding<From, 'n'>(opcodes, from);
  addRounding<From, 'z'>(opcodes, from);
  addRounding<From, 'm'>(opcodes, from);
  addRounding<From, 'p'>(opcodes, from);
}

template <typename Integer>
static void addToFloat(Opcodes &opcodes, const std::string &name) {
  Adder integer(opcodes, name);
  integer.add<[](Integer a) { return static_cast<float>(a); }, float, Integer>(
      "cvt.rn.f32");
  integer
      .add<[](Integer a) { return static_cast<double>(a); }, double, Integer>(
          "cvt.rn.f64");
}

/// Rounds to 10 bits after the point, halves away from zero.
static uint32_t toTf32(float value) {
  auto bits = std::bit_cast<uint32_t>(value);
  return std::isnan(value) ? bits : (bits + (1u << 12)) & ~((1u << 13) - 1);
}

/// The second operand is in the low half.
template <typename T> static Pair<T> toPair(float high, float low) {
  return {T::round(low), T::round(high)};
}

static void addNarrowing(Opcodes &opcodes) {
  Adder f32(opcodes, "f32"), f64(opcodes, "f64"), f16(opcodes, "f16"),
      bf16(opcodes, "bf16");
  f32.add<[](float a) { return double(a); }, double, float>("cvt.f64");
  f64.add<[](double a) { return float(a); }, float, double>("cvt.rn.f32");
  f16.add<[](F16 a) { return float(a); }, float, F16>("cvt.f32");
  f16.add<[](F16 a) { return double(a); }, double, F16>("cvt.f64");
  bf16.add<[](Bf16 a) { return float(a); }, float, Bf16>("cvt.f32");
  bf16.add<[](Bf16 a) { return double(a); }, double, Bf16>("cvt.f64");
  f64.add<Bf16::round, Bf16, double>("cvt.rn.bf16");
  f32.add<[](float a) { return F16::round(a); }, F16, float>("cvt.rn.f16");
  f32.add<[](float a) { return Bf16::round(a); }, Bf16, float>("cvt.rn.bf16");
  f64.add<F16::round, F16, double>("cvt.rn.f16");
  f32.add<toPair<F16>, Pair<F16>, float, float>("cvt.rn.f16x2");
  f32.add<toPair<Bf16>, Pair<Bf16>, float, float>("cvt.rn.bf16x2");
  f32.add<toTf32, uint32_t, float>("cvt.rna.tf32");
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// The parts of the last operand go to all others, the lowest first.
template <typename Part>
static void unpack(Warp &warp, const Instruction &instruction, int32_t begin,
                   int32_t end) {
  size_t count = instruction.numOperands - size_t(1);
  for (int32_t lane = begin; lane < end; ++lane) {
    auto bits = getRegister<uint64_t>(warp, instruction.operands[count], lane);
    for (size_t i = 0; i < count; ++i)
      setRegister<Part>(warp, instruction.operands[i], lane,
                        Part(bits >> 8 * sizeof(Part) * i));
  }
}

template <typename Part>
static void pack(Warp &warp, const Instruction &instruction, int32_t begin,
                 int32_t end) {
  for (int32_t lane = begin; lane < end; ++lane) {
    uint64_t bits = 0;
    for (size_t i = 1; i < instruction.numOperands; ++i)
      bits |= uint64_t(getRegister<Part>(warp, instruction.operands[i], lane))
              << 8 * sizeof(Part) * (i - 1);
    setRegister<uint64_t>(warp, instruction.operands[0], lane, bits);
  }
}

static void addMoves(Opcodes &opcodes) {
  auto add = [&](const std::string &name, uint8_t numOperands, Action action) {
    Opcode opcode;
    opcode.numOperands = numOperands;
    opcode.action = action;
    opcodes[name] = opcode;
  };
  add("mov.b32{2}", 3, unpack<uint16_t>);
  add("mov.b64{2}", 3, unpack<uint32_t>);
  add("mov.b64{4}", 5, unpack<uint16_t>);
  add("mov.b32,{2}", 3, pack<uint16_t>);
  add("mov.b64,{2}", 3, pack<uint32_t>);
  add("mov.b64,{4}", 5, pack<uint16_t>);
  Adder u32(opcodes, "u32"), u64(opcodes, "u64");
  u32.unary<[](uint32_t a) { return a; }, uint32_t>("mov");
  u64.unary<[](uint64_t a) { return a; }, uint64_t>("mov");
  // All memory here has one kind of address.
  for (const char *name : {"cvta.global", "cvta.shared", "cvta.local",
                           "cvta.to.global", "cvta.to.shared", "cvta.to.local"})
    u64.unary<[](uint64_t a) { return a; }, uint64_t>(name);
}

void veeline::gpu::addConversions(Opcodes &opcodes) {
  addConversionsTo<uint16_t>(opcodes, "u16");
  addConversionsTo<int16_t>(opcodes, "s16");
  addConversionsTo<uint32_t>(opcodes, "u32");
  addConversionsTo<int32_t>(opcodes, "s32");
  addConversionsTo<uint64_t>(opcodes, "u64");
  addConversionsTo<int64_t>(opcodes, "s64");
  addToFloat<int32_t>(opcodes, "s32");
  addToFloat<uint32_t>(opcodes, "u32");
  addToFloat<int64_t>(opcodes, "s64");
  addToFloat<uint64_t>(opcodes, "u64");
  addRoundings<float>(opcodes, "f32");
  addRoundings<double>(opcodes, "f64");
  addNarrowing(opcodes);
  addMoves(opcodes);
}
