//===- Suggest.cpp - did you mean ...? ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Suggest.h"

#include <algorithm>
#include <numeric>

using namespace veeline;

/// The Levenshtein distance, in which two letters that have changed places
/// count once. Computed row by row.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(before), row(before);
  std::iota(last.begin(), last.end(), 0);
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min(
          {last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::string veeline::nearest(std::string_view text,
                             const std::vector<std::string> &known) {
  std::string best;
  size_t bestDistance = std::max<size_t>(text.size() * 2 / 5, 1) + 1;
  for (const std::string &candidate : known) {
    size_t distance = editDistance(text, candidate);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

std::string veeline::suggestion(std::string_view text,
                                const std::vector<std::string> &known) {
  std::string best = nearest(text, known);
  return best.empty() ? "" : "; did you mean '" + best + "'?";
}

std::string veeline::joinNames(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}
