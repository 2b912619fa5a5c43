//===- Shrink.cpp - smaller models with the same failure ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verdict.h"

#include <algorithm>
#include <cctype>

using namespace veeline;
using namespace veeline::fuzz;

static size_t sizeOf(const Model &model) {
  size_t size = static_cast<size_t>(model.microbatches) +
                10 * (model.arguments.size() + model.results.size());
  for (const Step &step : model.steps)
    size += 40 + step.text.size() / 8;
  return size;
}

/// Removes the step that defines `value`, and uses `other` in its place.
static Model withReplacement(const Model &model, ValueId value, ValueId other) {
  Model smaller = model;
  std::erase_if(smaller.steps,
                [&](const Step &step) { return step.result == value; });
  smaller.replace(value, other);
  smaller.dropUnused();
  return smaller;
}

/// Removes the step that defines `value`, and uses a new argument in its place.
static Model withArgument(const Model &model, ValueId value, bool parameter) {
  Model smaller = model;
  ValueId argument = static_cast<ValueId>(smaller.types.size());
  smaller.types.push_back(smaller.types[static_cast<size_t>(value)]);
  std::string name = "\"s" + std::to_string(argument) + "\"";
  smaller.arguments.push_back(
      {argument, parameter
                     ? "pipe.param = #pipe.param<" + name + ", init = zeros>"
                     : "pipe.batch = " + name});
  return withReplacement(smaller, value, argument);
}

/// Values that could replace the result of step `index`: of a boundary its
/// operand, else up to three operands of the step and arguments of the model
/// that have its type.
static std::vector<ValueId> findSubstitutes(const Model &model, size_t index) {
  const Step &step = model.steps[index];
  if (step.boundaryOf >= 0)
    return {step.boundaryOf};
  std::vector<ValueId> candidates = Model::operandsOf(step);
  for (const Argument &argument : model.arguments)
    candidates.push_back(argument.value);
  std::vector<ValueId> substitutes;
  for (ValueId candidate : candidates)
    if (model.types[candidate] == model.types[step.result] &&
        std::find(substitutes.begin(), substitutes.end(), candidate) ==
            substitutes.end() &&
        substitutes.size() < 3)
      substitutes.push_back(candidate);
  return substitutes;
}

/// Models that are a little smaller.
static std::vector<Model> findSmaller(const Model &model) {
  std::vector<Model> all;
  if (model.results.size() > 1) {
    all.push_back(model);
    all.back().results.resize(1);
    all.back().dropUnused();
  }
  for (int64_t m : {int64_t(1), int64_t(2)})
    if (m < model.microbatches) {
      all.push_back(model);
      all.back().microbatches = m;
    }
  for (size_t i = model.steps.size(); i-- > 0;) {
    for (ValueId substitute : findSubstitutes(model, i))
      all.push_back(withReplacement(model, model.steps[i].result, substitute));
    if (model.steps[i].boundaryOf < 0)
      for (bool parameter : {false, true})
        all.push_back(withArgument(model, model.steps[i].result, parameter));
  }
  for (const Argument &a : model.arguments)
    for (const Argument &b : model.arguments)
      if (a.value != b.value && model.types[a.value] == model.types[b.value])
        all.push_back(withReplacement(model, a.value, b.value));
  return all;
}

/// What a diagnostic says, without the place and the numbers.
static std::string getGist(const std::string &message) {
  std::string gist;
  size_t begin = message.find("): ");
  for (char c : message.substr(begin == std::string::npos ? 0 : begin))
    if (c == '\n')
      break;
    else if (!std::isdigit(c))
      gist += c;
  return gist;
}

/// What a failure at run time begins with: which comparison it is, or which
/// command, but no place and no value.
static std::string getStart(const std::string &message) {
  return message.substr(0, message.find_first_of("0123456789\n"));
}

static bool isSameFailure(const Verdict &a, const Verdict &b) {
  auto outline = a.kind == Verdict::Kind::doesNotCompile ? getGist : getStart;
  return a.kind == b.kind && outline(a.message) == outline(b.message);
}

Model veeline::fuzz::shrink(Compiler &compiler, const Model &model,
                            Targets targets, bool joint,
                            const Verdict &verdict) {
  Model smallest = model;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Model &candidate : findSmaller(smallest)) {
      if (sizeOf(candidate) >= sizeOf(smallest) ||
          !isSameFailure(verdict,
                         judge(compiler, Task(candidate, targets, joint), 20)))
        continue;
      smallest = candidate;
      changed = true;
      break;
    }
  }
  return smallest;
}
