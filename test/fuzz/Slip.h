//===- Slip.h - weight gradients in the next step ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_SLIP_H
#define VEELINE_TEST_FUZZ_SLIP_H

#include "veeline/Schedule/Problem.h"
#include "veeline/Schedule/Schedule.h"

namespace veeline::fuzz {

class Random;

/// Moves the last W of some chunks to random places in front of the next step's
/// first F of the chunk, and of chunks that share a parameter with it.
void slip(const schedule::Problem &problem, schedule::Schedule &order,
          Random &random);

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_SLIP_H
