//===- ParamGroups.h - groups of parameters ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_TRAIN_PARAMGROUPS_H
#define VEELINE_RUNTIME_TRAIN_PARAMGROUPS_H

#include "Executor.h"

#include <string>

namespace veeline::train {

/// "PATTERN=NUMBER": the number for parameters whose names match the pattern.
/// In a pattern, * stands for any characters, ? for one character, and [a-c]
/// for one of several. A pattern also matches the name that is equal to it.
struct ParamGroup {
  std::string pattern;
  double number = 0;
};

/// Parses a group. None if `text` is not a pattern and a finite number of 0 or
/// more.
std::optional<ParamGroup> parseParamGroup(const std::string &text);

struct ParamGroups {
  std::vector<ParamGroup> scales;       ///< Of the learning rate.
  std::vector<ParamGroup> weightDecays; ///< In place of the common one.
};

/// Returns the rates of all parameters of a model; null if there is no group.
/// Fails if a pattern matches no parameter, or if two patterns of one kind
/// match the same parameter.
Expected<std::shared_ptr<const std::vector<ParamRates>>>
ratesOfParams(const ParamGroups &groups, const artifact::Metadata &metadata);

/// Returns a text such as "a*=0.1,b=2", in the given order.
std::string describe(const std::vector<ParamGroup> &groups);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_PARAMGROUPS_H
