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

/// "PATTERN=NUMBER": the number of the parameters whose names the pattern fits.
/// In a pattern * stands for any characters, ? for one, and [a-c] for one of
/// some; it also fits the name that it is.
struct ParamGroup {
  std::string pattern;
  double number = 0;
};

/// None where `text` is no pattern and finite number of 0 or more.
std::optional<ParamGroup> parseParamGroup(const std::string &text);

struct ParamGroups {
  std::vector<ParamGroup> scales;       ///< Of the learning rate.
  std::vector<ParamGroup> weightDecays; ///< Instead of the common one.
};

/// The numbers of all parameters of a model; null if there is no group. Fails
/// where a pattern fits no parameter, or two of one kind fit the same.
Expected<std::shared_ptr<const std::vector<ParamRates>>>
ratesOfParams(const ParamGroups &groups, const artifact::Metadata &metadata);

/// "a*=0.1,b=2", in the order given.
std::string describe(const std::vector<ParamGroup> &groups);

} // namespace veeline::train

#endif // VEELINE_RUNTIME_TRAIN_PARAMGROUPS_H
