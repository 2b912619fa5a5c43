//===- Generator.h - writes random models -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_GENERATOR_H
#define VEELINE_TEST_FUZZ_GENERATOR_H

#include "Model.h"
#include "ModelWriter.h"

namespace veeline::fuzz {

/// The model of `seed`: a random graph of ops that can be differentiated, with
/// marks at random places. For parameters and data in [-1, 1], values stay of
/// order one, and every function is smooth but for maxima, minima, absolute
/// values and selects. `element` is f64 or f32; if it is empty, the seed
/// chooses.
Model generateModel(uint64_t seed, Sizes sizes = Sizes::small,
                    const std::string &element = "");

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_GENERATOR_H
