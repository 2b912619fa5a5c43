//===- Warp.h - what the lanes of a warp do together ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exchanges, ballots, matrix fragments and products of matrices of 32 lanes
// that have all arrived at the same one, laid out as the PTX ISA says.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_WARP_H
#define VEELINE_TEST_GPU_WARP_H

#include "Emulation.h"

namespace veeline::gpu {

enum class WarpAction { shuffle, loadMatrices, multiply };

/// What a lane brings to an action of its warp, and takes from it.
struct WarpRequest {
  WarpAction action = WarpAction::shuffle;
  /// Of a shuffle.
  uint64_t value = 0;
  int32_t offset = 0, width = 0, mode = 0;
  /// ldmatrix: the row that the lane points to, null where it has no meaning;
  /// how many matrices; where the fragments go.
  const void *row = nullptr;
  int32_t count = 0;
  bool isTransposed = false;
  uint32_t *registers = nullptr;
  /// mma.sync: c += a b.
  MatrixKind kind = MatrixKind::bf16;
  const uint32_t *a = nullptr, *b = nullptr;
  float *c = nullptr;
};

/// Performs the action that all of the 32 lanes request.
void act(WarpRequest *const *lanes);

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_WARP_H
