//===- TokenSource.cpp - windows of files of tokens -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TokenSource.h"

#include "ElementAccess.h"
#include "veeline/Base/File.h"

#include <algorithm>

using namespace veeline;
using namespace veeline::data;

Status data::checkTokens(const TokenWindows &windows, const TokenPart &part,
                         int64_t first, int64_t count, const int64_t *values) {
  auto [low, end] = windows.range;
  const int64_t *found =
      std::find_if(values, values + count, [low = low, end = end](int64_t v) {
        return v < low || v >= end;
      });
  if (found == values + count)
    return Status::success();
  return Status::error("'" + part.path + "': token " +
                       std::to_string(part.first + first + (found - values)) +
                       " is " + std::to_string(*found) +
                       ", valid for batch argument '" + windows.argument +
                       "' are " + std::to_string(low) + " to " +
                       std::to_string(end - 1));
}

/// Replaces the tokens of a window by what the argument gets for them.
void TokenSource::applyView() {
  using Kind = TokenView::Kind;
  const Kind kind = windows.view.kind;
  int64_t next = 0;
  for (int64_t &value : values) {
    bool isLast = value == windows.view.separator;
    value = kind == Kind::inside ? !isLast : next;
    next = kind == Kind::documents ? next + isLast : isLast ? 0 : next + 1;
  }
}

void TokenSource::store(char *target) const {
  artifact::withZeroOf(type, [&](auto zero) {
    using T = decltype(zero);
    for (size_t i = 0; i < values.size(); ++i)
      artifact::storeElement<T>(target, i, static_cast<T>(values[i]));
  });
}

Status TokenSource::fill(int64_t step, int64_t first, int64_t count,
                         char *target) {
  int64_t windowBytes = windows.window * artifact::byteSize(type);
  for (int64_t i = 0; i < count; ++i) {
    SampleOrder::Place place = order.at(numberOf(step) + first + i);
    const TokenPart &part = windows.parts[place.file];
    int64_t begin = place.sample * windows.stride + windows.shift;
    part.tokens.load(begin, windows.window, values.data());
    if (windows.view.kind != TokenView::Kind::tokens)
      applyView();
    else if (!part.isChecked)
      VEELINE_TRY(
          checkTokens(windows, part, begin, windows.window, values.data()));
    store(target + i * windowBytes);
  }
  return Status::success();
}

void TokenSource::readAhead(int64_t step, int64_t first, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    SampleOrder::Place place = order.at(numberOf(step) + first + i);
    const Tokens &tokens = windows.parts[place.file].tokens;
    auto width = static_cast<size_t>(byteSize(tokens.type));
    int64_t begin = place.sample * windows.stride + windows.shift;
    veeline::readAhead(
        tokens.bytes.substr(static_cast<size_t>(begin) * width,
                            static_cast<size_t>(windows.window) * width));
  }
}
