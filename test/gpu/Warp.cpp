//===- Warp.cpp - PTX instructions of whole warps -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exchanges, ballots, matrix fragments and products of matrices of 32 lanes
// that have all arrived at the same instruction.
//
//===----------------------------------------------------------------------===//

#include "Ptx.h"

#include "veeline/Base/HalfFloats.h"

#include <bit>
#include <cstring>

using namespace veeline;
using namespace veeline::gpu;

using Operands = const uint32_t *;

/// Fails unless the lanes that an instruction names are all lanes.
static bool takesAll(Warp &warp, uint32_t mask, int32_t lane) {
  if (getRegister<uint32_t>(warp, mask, lane) == ~0u)
    return true;
  warp.device->fail(lane, "names some lanes of its warp alone");
  return false;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

/// The lane that `lane` takes its value from, by the PTX ISA's "shfl.sync":
/// `clamp` has the last lane in bits 0 to 4, and the bits of a lane's number
/// that name its segment in 8 to 12.
template <char mode>
static int32_t getSource(int32_t lane, uint32_t offset, uint32_t clamp) {
  auto own = static_cast<uint32_t>(lane), last = clamp & 31;
  uint32_t segment = clamp >> 8 & 31;
  uint32_t least = own & segment, most = least | (last & ~segment);
  offset &= 31;
  auto signedOwn = static_cast<int32_t>(own);
  int32_t source = signedOwn;
  bool isInside = false;
  if (mode == 'u') {
    source = signedOwn - static_cast<int32_t>(offset);
    isInside = source >= static_cast<int32_t>(most);
  } else {
    source = static_cast<int32_t>(mode == 'd'   ? own + offset
                                  : mode == 'b' ? own ^ offset
                                                : least | (offset & ~segment));
    isInside = source <= static_cast<int32_t>(most);
  }
  return isInside ? source : lane;
}

template <char mode>
static void shuffle(Warp &warp, const Instruction &instruction, int32_t,
                    int32_t) {
  Operands at = instruction.operands.data();
  uint32_t values[warpSize];
  for (int32_t lane = 0; lane < warpSize; ++lane) {
    if (!takesAll(warp, at[4], lane))
      return;
    int32_t source =
        getSource<mode>(lane, getRegister<uint32_t>(warp, at[2], lane),
                        getRegister<uint32_t>(warp, at[3], lane));
    values[lane] = getRegister<uint32_t>(warp, at[1], source);
  }
  for (int32_t lane = 0; lane < warpSize; ++lane)
    setRegister<uint32_t>(warp, at[0], lane, values[lane]);
}

static void ballot(Warp &warp, const Instruction &instruction, int32_t,
                   int32_t) {
  Operands at = instruction.operands.data();
  uint32_t votes = 0;
  for (int32_t lane = 0; lane < warpSize; ++lane) {
    if (!takesAll(warp, at[2], lane))
      return;
    votes |= uint32_t(getRegister<bool>(warp, at[1], lane)) << lane;
  }
  for (int32_t lane = 0; lane < warpSize; ++lane)
    setRegister<uint32_t>(warp, at[0], lane, votes);
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Reads the row of a matrix that a lane points to. Undefined data have all
/// bits set.
static bool readRow(Warp &warp, const Instruction &instruction, int32_t lane,
                    uint16_t (&row)[8]) {
  const char *place = getAddress(warp, instruction, 4, 0, lane);
  bool isGarbage = false;
  if (warp.isChecked &&
      !warp.device->access(lane, place, sizeof(row), Device::Access::read,
                           Device::Space::shared, isGarbage))
    return false;
  std::memcpy(row, place, sizeof(row));
  if (isGarbage)
    std::memset(row, 0xff, sizeof(row));
  return true;
}

/// ldmatrix .x4: lane 8 i + r points to row r of matrix i, which is 8 x 8 of 16
/// bits. Lane l gets elements 2 (l mod 4) and the next one of row l / 4, or of
/// that column.
template <bool isTransposed>
static void loadMatrices(Warp &warp, const Instruction &instruction, int32_t,
                         int32_t) {
  for (int32_t matrix = 0; matrix < 4; ++matrix) {
    uint16_t elements[8][8];
    for (int32_t row = 0; row < 8; ++row)
      if (!readRow(warp, instruction, 8 * matrix + row, elements[row]))
        return;
    for (int32_t lane = 0; lane < warpSize; ++lane) {
      int32_t major = lane / 4, minor = lane % 4 * 2;
      uint32_t low =
          isTransposed ? elements[minor][major] : elements[major][minor];
      uint32_t high = isTransposed ? elements[minor + 1][major]
                                   : elements[major][minor + 1];
      setRegister<uint32_t>(warp, instruction.operands[size_t(matrix)], lane,
                            low | high << 16);
    }
  }
}

namespace {

enum class Multiplicand { f16, bf16, tf32 };

/// The operands of one product.
struct Product {
  static constexpr int32_t maxDepth = 16;
  float a[16][maxDepth], b[maxDepth][8];
};

} // namespace

/// Element `i` of the registers from `first` on.
template <Multiplicand kind>
static float getElement(const Warp &warp, Operands first, int32_t i,
                        int32_t lane) {
  // The tensor cores read the upper 19 bits alone.
  if (kind == Multiplicand::tf32)
    return std::bit_cast<float>(getRegister<uint32_t>(warp, first[i], lane) &
                                0xffffe000);
  auto pair = getRegister<uint32_t>(warp, first[i / 2], lane);
  auto bits = static_cast<uint16_t>(pair >> (i % 2 * 16));
  return kind == Multiplicand::bf16 ? fromBf16(bits) : fromF16(bits);
}

/// Gathers the operands of m16n8k16 with 16 bits, or of m16n8k8 with tf32.
template <Multiplicand kind>
static void gather(const Warp &warp, Operands a, Operands b, Product &product) {
  constexpr bool isWide = kind == Multiplicand::tf32;
  for (int32_t lane = 0; lane < warpSize; ++lane) {
    int32_t group = lane / 4, thread = lane % 4;
    for (int32_t i = 0; i < (isWide ? 4 : 8); ++i) {
      // Pairs of 16 bits stand side by side along the depth.
      int32_t part = isWide ? i : i / 2;
      int32_t row = group + part % 2 * 8;
      int32_t column =
          isWide ? thread + part / 2 * 4 : thread * 2 + i % 2 + part / 2 * 8;
      product.a[row][column] = getElement<kind>(warp, a, i, lane);
    }
    for (int32_t i = 0; i < (isWide ? 2 : 4); ++i) {
      int32_t row = isWide ? thread + i * 4 : thread * 2 + i % 2 + i / 2 * 8;
      product.b[row][group] = getElement<kind>(warp, b, i, lane);
    }
  }
}

/// mma.sync, d = a b + c: 4 registers of d, 4 of a, 2 of b and 4 of c.
template <Multiplicand kind>
static void multiply(Warp &warp, const Instruction &instruction, int32_t,
                     int32_t) {
  Operands d = instruction.operands.data(), a = d + 4, b = d + 8, c = d + 10;
  Product product;
  gather<kind>(warp, a, b, product);
  constexpr int32_t depth = kind == Multiplicand::tf32 ? 8 : 16;
  for (int32_t lane = 0; lane < warpSize; ++lane)
    for (int32_t i = 0; i < 4; ++i) {
      int32_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      double sum = double(getRegister<float>(warp, c[i], lane));
      for (int32_t k = 0; k < depth; ++k)
        sum += double(product.a[row][k]) * double(product.b[k][column]);
      setRegister<float>(warp, d[i], lane, static_cast<float>(sum));
    }
}

void veeline::gpu::addWarp(Opcodes &opcodes) {
  auto add = [&](const std::string &name, uint8_t numOperands, Action action,
                 uint8_t sharedBytes = 0) {
    Opcode opcode;
    opcode.flow = Flow::together;
    opcode.numOperands = numOperands;
    opcode.sharedBytes = sharedBytes;
    opcode.action = action;
    opcodes[name] = opcode;
  };
  add("shfl.sync.idx.b32", 5, shuffle<'i'>);
  add("shfl.sync.bfly.b32", 5, shuffle<'b'>);
  add("shfl.sync.up.b32", 5, shuffle<'u'>);
  add("shfl.sync.down.b32", 5, shuffle<'d'>);
  add("vote.sync.ballot.b32", 3, ballot);
  add("ldmatrix.sync.aligned.m8n8.x4.shared.b16", 5, loadMatrices<false>, 16);
  add("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", 5, loadMatrices<true>,
      16);
  add("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 14,
      multiply<Multiplicand::f16>);
  add("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 14,
      multiply<Multiplicand::bf16>);
  add("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 14,
      multiply<Multiplicand::tf32>);
}
