//===- Elements.h - buffers of any element type -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_GPU_ELEMENTS_H
#define VEELINE_TEST_GPU_ELEMENTS_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace veeline::gpu {

enum class ElementKind { f64, f32, bf16, f16, i64, i32, i16, i8, i1 };

int64_t bytesOf(ElementKind kind);
const char *nameOf(ElementKind kind);
bool isFloat(ElementKind kind);
/// The largest relative error of a rounding; 0 for integers.
double epsilonOf(ElementKind kind);

/// A buffer between two guards of NaN. It starts at a multiple of `alignment`,
/// but not of twice that.
class Buffer {
public:
  Buffer(ElementKind kind, int64_t count, int64_t alignment);

  ElementKind kind() const { return elementKind; }
  int64_t count() const { return numElements; }
  int64_t bytes() const { return numElements * bytesOf(elementKind); }
  char *data() { return memory.data() + begin; }
  const char *data() const { return memory.data() + begin; }

  double get(int64_t i) const;
  void set(int64_t i, double value);
  /// True if both have the same bits, or both are NaN.
  bool equals(const Buffer &other, int64_t i) const;
  void copyFrom(const Buffer &other);
  bool areGuardsWhole() const;

private:
  ElementKind elementKind;
  int64_t numElements;
  std::vector<char> memory;
  size_t begin;
};

} // namespace veeline::gpu

#endif // VEELINE_TEST_GPU_ELEMENTS_H
