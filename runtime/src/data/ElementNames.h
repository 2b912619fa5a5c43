//===- ElementNames.h - element types in files ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_ELEMENTNAMES_H
#define VEELINE_RUNTIME_DATA_ELEMENTNAMES_H

#include "veeline/artifact.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace veeline::data {

/// The names of an element type in file formats. A name is empty if the format
/// lacks the type.
struct ElementNames {
  artifact::DataType type;
  std::string_view safeTensors, npy;
};

inline constexpr ElementNames elementNames[] = {
    {artifact::DataType::f32, "F32", "<f4"},
    {artifact::DataType::f64, "F64", "<f8"},
    {artifact::DataType::bf16, "BF16", ""},
    {artifact::DataType::f16, "F16", "<f2"},
    {artifact::DataType::i1, "BOOL", "|b1"},
    {artifact::DataType::i8, "I8", "|i1"},
    {artifact::DataType::i16, "I16", "<i2"},
    {artifact::DataType::i32, "I32", "<i4"},
    {artifact::DataType::i64, "I64", "<i8"}};

/// Returns the row whose `member` is `value`; null if there is none.
template <typename Member, typename T>
const ElementNames *findElement(Member ElementNames::*member, const T &value) {
  const auto *row = std::find_if(
      std::begin(elementNames), std::end(elementNames),
      [&](const ElementNames &row) { return row.*member == value; });
  return row == std::end(elementNames) ? nullptr : row;
}

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_ELEMENTNAMES_H
