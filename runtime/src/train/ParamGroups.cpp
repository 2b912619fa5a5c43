//===- ParamGroups.cpp - groups of parameters -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParamGroups.h"

#include "veeline/Base/Numbers.h"
#include "veeline/Base/Suggest.h"

#include <algorithm>
#include <fnmatch.h>
#include <functional>

using namespace veeline;
using namespace veeline::train;
using artifact::Metadata;
using artifact::Parameter;

std::optional<ParamGroup> train::parseParamGroup(const std::string &text) {
  size_t end = text.rfind('=');
  if (end == std::string::npos || end == 0)
    return std::nullopt;
  std::optional<double> number = parseNumber(text.substr(end + 1));
  if (!number || *number < 0)
    return std::nullopt;
  return ParamGroup{text.substr(0, end), *number};
}

/// Whether the name matches the pattern. A name may also have characters that
/// are special in patterns.
static bool fits(const ParamGroup &group, const std::string &name) {
  return group.pattern == name ||
         ::fnmatch(group.pattern.c_str(), name.c_str(), FNM_NOESCAPE) == 0;
}

static Status refuseUnknown(const std::string &option, const ParamGroup &group,
                            const Metadata &metadata) {
  constexpr size_t most = 20;
  std::vector<std::string> all, shown;
  for (const Parameter &param : metadata.params)
    all.push_back(param.name);
  shown.assign(all.begin(),
               all.begin() + static_cast<int64_t>(std::min(most, all.size())));
  if (all.size() > most)
    shown.emplace_back("...");
  return Status::error(option + ": no parameter is named '" + group.pattern +
                       "'" + suggestion(group.pattern, all) +
                       "; the parameters are " + joinNames(shown));
}

static Status refuseFrozen(const std::string &option, const ParamGroup &group,
                           const std::string &param) {
  return Status::error(option + ": '" + group.pattern +
                       "' names no parameter that is trained: '" + param +
                       "' is frozen (veeline compile --freeze)");
}

/// Gives each parameter that matches a group, and that is trained, the number
/// of the group.
static Status
apply(const std::string &option, const std::vector<ParamGroup> &groups,
      const Metadata &metadata,
      const std::function<void(size_t param, double number)> &set) {
  std::vector<const ParamGroup *> groupOf(metadata.params.size());
  for (const ParamGroup &group : groups) {
    bool isUsed = false;
    const Parameter *frozen = nullptr;
    for (size_t i = 0; i < metadata.params.size(); ++i) {
      const std::string &name = metadata.params[i].name;
      if (!fits(group, name))
        continue;
      if (metadata.params[i].frozen) {
        frozen = &metadata.params[i];
        continue;
      }
      if (groupOf[i])
        return Status::error(option + ": '" + groupOf[i]->pattern + "' and '" +
                             group.pattern + "' both name parameter '" + name +
                             "'; only one of them may");
      groupOf[i] = &group;
      set(i, group.number);
      isUsed = true;
    }
    if (!isUsed)
      return frozen ? refuseFrozen(option, group, frozen->name)
                    : refuseUnknown(option, group, metadata);
  }
  return Status::success();
}

Expected<std::shared_ptr<const std::vector<ParamRates>>>
train::ratesOfParams(const ParamGroups &groups, const Metadata &metadata) {
  using Shared = std::shared_ptr<const std::vector<ParamRates>>;
  if (groups.scales.empty() && groups.weightDecays.empty())
    return Shared();
  std::vector<ParamRates> rates(metadata.params.size());
  VEELINE_TRY(apply("--lr-scale", groups.scales, metadata,
                    [&](size_t i, double number) { rates[i].scale = number; }));
  VEELINE_TRY(
      apply("--weight-decay-of", groups.weightDecays, metadata,
            [&](size_t i, double number) { rates[i].weightDecay = number; }));
  return Shared(
      std::make_shared<const std::vector<ParamRates>>(std::move(rates)));
}

std::string train::describe(const std::vector<ParamGroup> &groups) {
  std::string text;
  for (const ParamGroup &group : groups)
    text += (text.empty() ? "" : ",") + group.pattern + "=" +
            exactNumber(group.number);
  return text;
}
