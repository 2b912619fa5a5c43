//===- Elements.cpp - buffers of any element type -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elements.h"

#include "../standin/Elements.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

using namespace veeline;
using namespace veeline::gpu;

static constexpr size_t guardBytes = 1024;
static constexpr char guard = '\xff';

int64_t veeline::gpu::bytesOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::f64:
  case ElementKind::i64:
    return 8;
  case ElementKind::f32:
  case ElementKind::i32:
    return 4;
  case ElementKind::bf16:
  case ElementKind::f16:
  case ElementKind::i16:
    return 2;
  case ElementKind::i8:
  case ElementKind::i1:
    return 1;
  }
  return 0;
}

const char *veeline::gpu::nameOf(ElementKind kind) {
  static const char *const names[] = {"f64", "f32", "bf16", "f16", "i64",
                                      "i32", "i16", "i8",   "i1"};
  return names[static_cast<size_t>(kind)];
}

double veeline::gpu::epsilonOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::f64:
    return 0x1p-53;
  case ElementKind::f32:
    return 0x1p-24;
  case ElementKind::bf16:
    return 0x1p-8;
  case ElementKind::f16:
    return 0x1p-11;
  default:
    return 0;
  }
}

bool veeline::gpu::isFloat(ElementKind kind) { return epsilonOf(kind) > 0; }

Buffer::Buffer(ElementKind kind, int64_t count, int64_t alignment)
    : elementKind(kind), numElements(count) {
  auto step = static_cast<size_t>(alignment);
  memory.assign(static_cast<size_t>(bytes()) + 2 * guardBytes + 4 * step,
                guard);
  auto address = reinterpret_cast<size_t>(memory.data()) + guardBytes;
  size_t place = (address + 2 * step - 1) / (2 * step) * (2 * step) + step;
  begin = place - reinterpret_cast<size_t>(memory.data());
}

/// Kernels call this to round to bf16 on a CPU without instructions for it;
/// libgcc has it only since version 13. The result is in the lower half of the
/// register that returns a float.
extern "C" __attribute__((visibility("default"))) float
__truncsfbf2(float value) {
  return std::bit_cast<float>(uint32_t(standin::toBf16(value)));
}

static standin::Element floatOf(ElementKind kind) {
  switch (kind) {
  case ElementKind::f64:
    return standin::Element::f64;
  case ElementKind::f32:
    return standin::Element::f32;
  case ElementKind::bf16:
    return standin::Element::bf16;
  case ElementKind::f16:
    return standin::Element::f16;
  default:
    return standin::Element::none;
  }
}

template <typename T> static T read(const char *place) {
  T value;
  std::memcpy(&value, place, sizeof(value));
  return value;
}

double Buffer::get(int64_t i) const {
  const char *place = data() + i * bytesOf(elementKind);
  switch (elementKind) {
  case ElementKind::i64:
    return static_cast<double>(read<int64_t>(place));
  case ElementKind::i32:
    return read<int32_t>(place);
  case ElementKind::i16:
    return read<int16_t>(place);
  case ElementKind::i8:
  case ElementKind::i1:
    return read<int8_t>(place);
  default:
    return standin::elementAt(floatOf(elementKind), place);
  }
}

void Buffer::set(int64_t i, double value) {
  char *place = data() + i * bytesOf(elementKind);
  auto write = [&](auto converted) {
    std::memcpy(place, &converted, sizeof(converted));
  };
  switch (elementKind) {
  case ElementKind::i64:
    return write(static_cast<int64_t>(value));
  case ElementKind::i32:
    return write(static_cast<int32_t>(value));
  case ElementKind::i16:
    return write(static_cast<int16_t>(value));
  case ElementKind::i8:
  case ElementKind::i1:
    return write(static_cast<int8_t>(value));
  default:
    return standin::store(floatOf(elementKind), place, value);
  }
}

bool Buffer::equals(const Buffer &other, int64_t i) const {
  int64_t width = bytesOf(elementKind);
  if (!std::memcmp(data() + i * width, other.data() + i * width,
                   static_cast<size_t>(width)))
    return true;
  return isFloat(elementKind) && std::isnan(get(i)) && std::isnan(other.get(i));
}

void Buffer::copyFrom(const Buffer &other) {
  std::memcpy(data(), other.data(), static_cast<size_t>(bytes()));
}

bool Buffer::areGuardsWhole() const {
  auto isGuard = [](char byte) { return byte == guard; };
  auto middle = memory.begin() + static_cast<int64_t>(begin);
  return std::all_of(memory.begin(), middle, isGuard) &&
         std::all_of(middle + bytes(), memory.end(), isGuard);
}
