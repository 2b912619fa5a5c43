//===- Tensor.h - a view of an array ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_TENSOR_H
#define VEELINE_RUNTIME_DATA_TENSOR_H

#include "veeline/artifact.h"

namespace veeline::data {

/// A dense row-major array. `bytes` may have any alignment.
struct Tensor {
  artifact::DataType type = artifact::DataType::f32;
  std::vector<int64_t> shape;
  std::string_view bytes;
};

/// Returns a text such as "f32[4x16]".
std::string describe(artifact::DataType type,
                     const std::vector<int64_t> &shape);

/// Returns a text such as "[1, 2]": the indices of element `index` in row-major
/// order.
std::string formatPosition(int64_t index, const std::vector<int64_t> &shape);

/// The size of a tensor in bytes; none if it exceeds 2^62, or if an extent is
/// negative.
std::optional<int64_t> tensorBytes(artifact::DataType type,
                                   const std::vector<int64_t> &shape);

/// Converts the floats of `tensor` to `type`, f32 or f64, which is at least as
/// wide. So no value changes.
void widenFloats(const Tensor &tensor, artifact::DataType type, char *bytes);

/// Converts floats to any type of floats: what is not exact is rounded to the
/// nearest number, of two to the even one.
void convertFloats(const Tensor &tensor, artifact::DataType type, char *bytes);

/// Fails if an integer of `tensor` is outside of [range.first, range.second),
/// or a float is outside of [range.first, range.second - 1], because a float
/// may be rounded to an integer later. NaN is outside. The message has `what`
/// and the position of the first such value. Floats of 16 bits are not checked,
/// because no argument has them.
Status checkRange(const Tensor &tensor, std::pair<int64_t, int64_t> range,
                  const std::string &what);

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_TENSOR_H
