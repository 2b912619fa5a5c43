//===- Suggest.cpp - did you mean ...? ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/Suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>

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

/// Options as other programs have them, with their names here.
static constexpr std::pair<std::string_view, std::string_view> otherNames[] = {
    {"learning-rate", "lr"},
    {"max-lr", "lr"},
    {"max-grad-norm", "clip-norm"},
    {"grad-clip", "clip-norm"},
    {"gradient-clip", "clip-norm"},
    {"gradient-clipping", "clip-norm"},
    {"eps", "epsilon"},
    {"wd", "weight-decay"},
    {"betas", "beta1"},
    {"lr-scheduler", "lr-schedule"},
    {"warmup-steps", "warmup"},
    {"checkpoint-dir", "checkpoint"},
    {"max-steps", "steps"},
    {"num-epochs", "epochs"},
    {"num-stages", "stages"},
    {"pipeline-stages", "stages"},
    {"num-microbatches", "microbatches"},
    {"num-replicas", "replicas"},
    {"data-parallel", "replicas"},
};

std::string veeline::suggestionOfOption(std::string_view text,
                                        const std::vector<std::string> &known) {
  size_t dashes = std::min(text.find_first_not_of('-'), text.size());
  std::string name(text.substr(dashes));
  std::replace(name.begin(), name.end(), '_', '-');
  for (const auto &[other, here] : otherNames) {
    std::string meant = std::string(text.substr(0, dashes)) + std::string(here);
    if (name == other && std::ranges::find(known, meant) != known.end())
      return "; did you mean '" + meant + "'?";
  }
  return suggestion(text, known);
}

std::string veeline::joinNames(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "" : ", ") + name;
  return text;
}
