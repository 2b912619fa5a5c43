//===- Warp.cpp - what the lanes of a warp do together --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Warp.h"

#include "veeline/Base/HalfFloats.h"

#include <bit>
#include <cstring>

using namespace veeline;
using namespace veeline::gpu;

/// The requests of 32 lanes.
using Lanes = WarpRequest *const *;

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

static int32_t sourceOf(const WarpRequest &request, int32_t lane) {
  enum { xorMode, up, down, idx }; // as gpu::ShuffleMode
  int32_t source = request.mode == xorMode ? lane ^ request.offset
                   : request.mode == up    ? lane - request.offset
                   : request.mode == down  ? lane + request.offset
                                           : request.offset;
  return source >= 0 && source < warpSize ? source : lane;
}

static void shuffle(Lanes lanes) {
  uint64_t values[warpSize], ballot = 0;
  for (int32_t lane = 0; lane < warpSize; ++lane)
    ballot |= (lanes[lane]->value & 1) << lane;
  for (int32_t lane = 0; lane < warpSize; ++lane)
    values[lane] = lanes[lane]->mode == ballotMode
                       ? ballot
                       : lanes[sourceOf(*lanes[lane], lane)]->value;
  for (int32_t lane = 0; lane < warpSize; ++lane)
    lanes[lane]->value = values[lane];
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// Lane 8 i + r points to row r of matrix i, which is 8 x 8 of 16 bits. Lane l
/// gets elements 2 (l mod 4) and the next one of row l / 4, or of that column.
static void loadMatrices(Lanes lanes) {
  for (int32_t matrix = 0; matrix < lanes[0]->count; ++matrix) {
    uint16_t elements[8][8];
    for (int32_t row = 0; row < 8; ++row) {
      const void *place = lanes[8 * matrix + row]->row;
      if (place)
        std::memcpy(elements[row], place, sizeof(elements[row]));
      else
        std::memset(elements[row], 0xff, sizeof(elements[row]));
    }
    for (int32_t lane = 0; lane < warpSize; ++lane) {
      int32_t major = lane / 4, minor = lane % 4 * 2;
      bool isTransposed = lanes[lane]->isTransposed;
      uint32_t low =
          isTransposed ? elements[minor][major] : elements[major][minor];
      uint32_t high = isTransposed ? elements[minor + 1][major]
                                   : elements[major][minor + 1];
      lanes[lane]->registers[matrix] = low | high << 16;
    }
  }
}

/// Element `i` of what registers hold.
static float getElement(const uint32_t *registers, int32_t i, MatrixKind kind) {
  // The tensor cores read the upper 19 bits alone.
  if (kind == MatrixKind::tf32)
    return std::bit_cast<float>(registers[i] & 0xffffe000);
  auto bits = static_cast<uint16_t>(registers[i / 2] >> (i % 2 * 16));
  return kind == MatrixKind::bf16 ? fromBf16(bits) : fromF16(bits);
}

namespace {

/// The operands of one product.
struct Product {
  static constexpr int32_t maxDepth = 16;
  int32_t depth;
  float a[16][maxDepth], b[maxDepth][8];
};

} // namespace

/// Gathers the operands of m16n8k16 with 16 bits, or of m16n8k8 with tf32.
static void gather(Lanes lanes, Product &product) {
  MatrixKind kind = lanes[0]->kind;
  bool isWide = kind == MatrixKind::tf32;
  product.depth = isWide ? 8 : 16;
  for (int32_t lane = 0; lane < warpSize; ++lane) {
    int32_t group = lane / 4, thread = lane % 4;
    const WarpRequest &request = *lanes[lane];
    for (int32_t i = 0; i < (isWide ? 4 : 8); ++i) {
      // Pairs of 16 bits stand side by side along the depth.
      int32_t part = isWide ? i : i / 2;
      int32_t row = group + part % 2 * 8;
      int32_t column =
          isWide ? thread + part / 2 * 4 : thread * 2 + i % 2 + part / 2 * 8;
      product.a[row][column] = getElement(request.a, i, kind);
    }
    for (int32_t i = 0; i < (isWide ? 2 : 4); ++i) {
      int32_t row = isWide ? thread + i * 4 : thread * 2 + i % 2 + i / 2 * 8;
      product.b[row][group] = getElement(request.b, i, kind);
    }
  }
}

static void multiply(Lanes lanes) {
  Product product;
  gather(lanes, product);
  for (int32_t lane = 0; lane < warpSize; ++lane)
    for (int32_t i = 0; i < 4; ++i) {
      int32_t row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      double sum = lanes[lane]->c[i];
      for (int32_t k = 0; k < product.depth; ++k)
        sum += double(product.a[row][k]) * double(product.b[k][column]);
      lanes[lane]->c[i] = static_cast<float>(sum);
    }
}

void veeline::gpu::act(WarpRequest *const *lanes) {
  switch (lanes[0]->action) {
  case WarpAction::shuffle:
    return shuffle(lanes);
  case WarpAction::loadMatrices:
    return loadMatrices(lanes);
  case WarpAction::multiply:
    return multiply(lanes);
  }
}
