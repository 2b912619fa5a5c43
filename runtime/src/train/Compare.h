//===- Compare.h - comparing tensors ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_COMPARE_H
#define VEELINE_RUNTIME_TRAIN_COMPARE_H

#include "veeline/artifact.h"

namespace veeline::train {

/// Describes where the bits of two values differ first, and what the values
/// are: "element 5 ([1, 1]) is 0.5 (0x3f000000), ... ; 3 of 8 differ". Empty if
/// the bits are equal.
std::string describeDifference(const artifact::Parameter &param,
                               const std::vector<char> &a, const char *aName,
                               const std::vector<char> &b, const char *bName);

/// Returns ||a - b|| / ||b|| in the Euclidean norm. It is 0 for equal tensors,
/// and infinite if b is zero and a is not, or if either has a NaN.
double relativeDistance(const artifact::Parameter &param,
                        const std::vector<char> &a, const std::vector<char> &b);

/// Adds b to a, element by element in the parameter's type.
void addTensor(const artifact::Parameter &param, std::vector<char> &a,
               const std::vector<char> &b);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_COMPARE_H
