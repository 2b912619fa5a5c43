//===- Recompute.cpp - what a backward may recompute ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/Recompute.h"

#include "veeline/Base/Numbers.h"
#include "veeline/Base/Suggest.h"

using namespace veeline;

namespace {
struct Named {
  const char *name;
  RecomputeKind kind;
};
} // namespace

static constexpr Named named[] = {
    {"none", RecomputeKind::None},   {"balanced", RecomputeKind::Balanced},
    {"cheap", RecomputeKind::Cheap}, {"full", RecomputeKind::Full},
    {"auto", RecomputeKind::Auto},
};
static constexpr std::string_view rateUnit = "B/ns";

std::string veeline::toString(const Recompute &policy) {
  for (const Named &entry : named)
    if (entry.kind == policy.kind)
      return entry.name;
  std::string number = exactNumber(policy.amount);
  return policy.kind == RecomputeKind::Rate ? number + std::string(rateUnit)
                                            : number;
}

/// Sets `policy` from `value`, the number in `text`. Returns a description of
/// what is wrong, or an empty string.
static std::string readNumber(std::string_view text, double value, bool isRate,
                              Recompute &policy) {
  policy = {isRate ? RecomputeKind::Rate : RecomputeKind::Tail, value};
  if (isRate)
    return value >= 0 ? ""
                      : "expected a rate of at least 0B/ns, found '" +
                            std::string(text) + "'";
  if (value > 0 && value < 1)
    return "";
  return "expected a ratio between 0 and 1, found '" + std::string(text) +
         "'; nothing is 'none', everything is 'full'";
}

std::string veeline::parseRecompute(std::string_view text, Recompute &policy) {
  std::vector<std::string> names;
  for (const Named &entry : named) {
    names.push_back(entry.name);
    if (text != entry.name)
      continue;
    policy = {entry.kind, 0};
    return "";
  }
  bool isRate = text.ends_with(rateUnit);
  std::optional<double> value = parseNumber(
      isRate ? text.substr(0, text.size() - rateUnit.size()) : text);
  if (value)
    return readNumber(text, *value, isRate, policy);
  std::string near = nearest(text, names);
  return "unknown choice of what to recompute '" + std::string(text) + "'; " +
         (near.empty() ? "expected "
                       : "did you mean '" + near + "'? Expected ") +
         joinNames(names) + ", a ratio as 0.5 or a rate as 64B/ns";
}

std::string veeline::parseRecompute(std::span<const std::string> texts,
                                    int numChunks,
                                    std::vector<Recompute> &policies) {
  policies.clear();
  for (const std::string &text : texts) {
    std::string misfit = parseRecompute(text, policies.emplace_back());
    if (!misfit.empty())
      return misfit;
  }
  if (policies.empty())
    policies.emplace_back();
  if (policies.size() == 1)
    policies.assign(numChunks, policies[0]);
  if (policies.size() == static_cast<size_t>(numChunks))
    return "";
  return "expected one choice of what to recompute or one for each of the " +
         std::to_string(numChunks) + " chunks, found " +
         std::to_string(policies.size());
}
