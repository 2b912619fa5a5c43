//===- Tensor.cpp - a view of an array ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tensor.h"

#include "ElementAccess.h"
#include "veeline/Base/HalfFloats.h"
#include "veeline/Base/Numbers.h"

#include <cstring>
#include <type_traits>

using namespace veeline;
using namespace veeline::data;
using artifact::DataType;

std::string data::describe(DataType type, const std::vector<int64_t> &shape) {
  std::string text(artifact::name(type));
  text += "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "x" : "") + std::to_string(shape[i]);
  return text + "]";
}

std::optional<int64_t> data::tensorBytes(DataType type,
                                         const std::vector<int64_t> &shape) {
  constexpr int64_t limit = int64_t(1) << 62;
  int64_t bytes = artifact::byteSize(type);
  for (int64_t extent : shape) {
    if (extent < 0 || (extent > 0 && bytes > limit / extent))
      return std::nullopt;
    bytes *= extent;
  }
  return bytes;
}

std::string data::formatPosition(int64_t index,
                                 const std::vector<int64_t> &shape) {
  std::vector<int64_t> indices(shape.size());
  for (size_t d = shape.size(); d-- > 0; index /= shape[d])
    indices[d] = index % shape[d];
  std::string text = "[";
  for (size_t d = 0; d < indices.size(); ++d)
    text.append(d ? ", " : "").append(std::to_string(indices[d]));
  return text + "]";
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

template <typename From, typename To, typename Convert>
static void convertAll(std::string_view from, char *to, Convert &&convert) {
  for (size_t i = 0; i < from.size() / sizeof(From); ++i)
    artifact::storeElement<To>(
        to, i, convert(artifact::loadElement<From>(from.data(), i)));
}

template <typename To>
static void widenFloatsTo(const Tensor &tensor, char *to) {
  if (tensor.type == DataType::bf16)
    convertAll<uint16_t, To>(tensor.bytes, to, fromBf16);
  else if (tensor.type == DataType::f16)
    convertAll<uint16_t, To>(tensor.bytes, to, fromF16);
  else
    convertAll<float, To>(tensor.bytes, to, [](float value) { return value; });
}

void data::widenFloats(const Tensor &tensor, DataType type, char *bytes) {
  if (tensor.type == type)
    std::memcpy(bytes, tensor.bytes.data(), tensor.bytes.size());
  else if (type == DataType::f64)
    widenFloatsTo<double>(tensor, bytes);
  else
    widenFloatsTo<float>(tensor, bytes);
}

/// Of f32 or f64, whose numbers `round` makes floats.
template <typename From, typename Round>
static void narrowFloats(const Tensor &tensor, DataType type, char *bytes,
                         Round &&round) {
  if (type == DataType::f32)
    convertAll<From, float>(tensor.bytes, bytes, [](From value) {
      return static_cast<float>(value);
    });
  else
    convertAll<From, uint16_t>(tensor.bytes, bytes, [&](From value) {
      return type == DataType::bf16 ? toBf16(round(value))
                                    : toF16(round(value));
    });
}

void data::convertFloats(const Tensor &tensor, DataType type, char *bytes) {
  bool isWider = type == DataType::f64 ||
                 (type == DataType::f32 && tensor.type != DataType::f64);
  if (tensor.type == type || isWider)
    return widenFloats(tensor, type, bytes);
  if (tensor.type == DataType::f64)
    return narrowFloats<double>(tensor, type, bytes, roundToOdd);
  if (tensor.type == DataType::f32)
    return narrowFloats<float>(tensor, type, bytes,
                               [](float value) { return value; });
  // From one type of 16 bits to the other.
  std::vector<char> wide(2 * tensor.bytes.size());
  widenFloats(tensor, DataType::f32, wide.data());
  convertFloats({DataType::f32, tensor.shape, {wide.data(), wide.size()}}, type,
                bytes);
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

template <typename T> static std::string toText(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return exactNumber(double(value));
  else
    return std::to_string(value);
}

/// Returns "0 to 9", or "numbers up to 9" or "numbers from 0" if only one side
/// has a bound.
static std::string describeRange(std::pair<int64_t, int64_t> range) {
  std::string first = std::to_string(range.first);
  std::string last = std::to_string(range.second - 1);
  if (range.first == INT64_MIN)
    return "numbers up to " + last;
  return range.second == INT64_MAX ? "numbers from " + first
                                   : first + " to " + last;
}

/// Whether `value` is in `range`. A float must not exceed the last valid
/// integer, because it may be rounded to an integer later. Bounds are sizes of
/// tensors, which f64 represents exactly, or missing. NaN is in no range.
template <typename T>
static bool isIn(std::pair<int64_t, int64_t> range, T value) {
  if constexpr (std::is_floating_point_v<T>)
    return double(value) >= double(range.first) &&
           double(value) <= double(range.second) - 1;
  else
    return value >= range.first && value < range.second;
}

template <typename T>
static Status checkRangeOf(const Tensor &tensor,
                           std::pair<int64_t, int64_t> range,
                           const std::string &what) {
  for (size_t i = 0; i < tensor.bytes.size() / sizeof(T); ++i) {
    T value = artifact::loadElement<T>(tensor.bytes.data(), i);
    if (!isIn(range, value))
      return Status::error(
          what + ": the value at " +
          formatPosition(static_cast<int64_t>(i), tensor.shape) + " is " +
          toText(value) + ", valid are " + describeRange(range));
  }
  return Status::success();
}

Status data::checkRange(const Tensor &tensor, std::pair<int64_t, int64_t> range,
                        const std::string &what) {
  if (tensor.type == DataType::bf16 || tensor.type == DataType::f16)
    return Status::success();
  return artifact::withZeroOf(tensor.type, [&](auto zero) {
    return checkRangeOf<decltype(zero)>(tensor, range, what);
  });
}
