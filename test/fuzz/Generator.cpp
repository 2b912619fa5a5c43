//===- Generator.cpp - writes random models -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generator.h"

#include "GraphBuilder.h"

using namespace veeline::fuzz;

Model veeline::fuzz::generateModel(uint64_t seed, Sizes sizes,
                                   const std::string &element) {
  Random random(seed);
  // Finite differences need f64; models for GPUs are mostly in f32.
  double probability = sizes == Sizes::small ? 0.2 : 0.8;
  std::string chosen = random.chance(probability) ? "f32" : "f64";
  GraphBuilder builder(seed, element.empty() ? chosen : element, random, sizes);
  int64_t marks = random.between(0, 7);
  int64_t ops = random.between(4, 14);
  builder.start();
  for (int64_t i = 0; i < ops; ++i) {
    builder.addOp();
    if (random.chance(static_cast<double>(marks) / static_cast<double>(ops)))
      builder.addMark();
  }
  builder.addLoss();
  Model model = builder.take();
  model.microbatches = random.between(1, 4);
  model.dropUnused();
  return model;
}
