//===- Model.cpp - a model that can be taken apart ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

using namespace veeline::fuzz;

/// Calls `visit(begin, end, value)` for every `%v<number>` of `text`.
static void
forEachValue(const std::string &text,
             const std::function<void(size_t, size_t, ValueId)> &visit) {
  for (size_t begin = text.find("%v"); begin != std::string::npos;
       begin = text.find("%v", begin + 2)) {
    size_t end = begin + 2;
    while (end < text.size() && std::isdigit(text[end]))
      ++end;
    visit(begin, end, std::stoi(text.substr(begin + 2, end - begin - 2)));
  }
}

std::vector<ValueId> Model::operandsOf(const Step &step) {
  std::set<ValueId> values;
  forEachValue(step.text, [&](size_t, size_t, ValueId value) {
    if (value != step.result)
      values.insert(value);
  });
  return {values.begin(), values.end()};
}

void Model::replace(ValueId from, ValueId to) {
  for (Step &step : steps) {
    if (step.result == from)
      continue;
    std::string text;
    size_t copied = 0;
    forEachValue(step.text, [&](size_t begin, size_t end, ValueId value) {
      if (value != from)
        return;
      text.append(step.text, copied, begin - copied);
      text += nameOf(to);
      copied = end;
    });
    text.append(step.text, copied);
    step.text = std::move(text);
    if (step.boundaryOf == from)
      step.boundaryOf = to;
  }
  std::replace(results.begin(), results.end(), from, to);
}

void Model::dropUnused() {
  std::set<ValueId> used(results.begin(), results.end());
  std::vector<Step> kept;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    if (!used.contains(step->result))
      continue;
    for (ValueId operand : operandsOf(*step))
      used.insert(operand);
    kept.push_back(std::move(*step));
  }
  std::reverse(kept.begin(), kept.end());
  steps = std::move(kept);
  std::vector<Argument> keptArguments;
  bool hasParameter = false;
  auto isParameter = [](const Argument &argument) {
    return argument.attributes.starts_with("pipe.param");
  };
  for (const Argument &argument : arguments)
    if (used.contains(argument.value)) {
      keptArguments.push_back(argument);
      hasParameter |= isParameter(argument);
    }
  if (!hasParameter)
    keptArguments.push_back(
        *std::find_if(arguments.begin(), arguments.end(), isParameter));
  arguments = std::move(keptArguments);
}

std::string Model::text() const {
  std::string text = "func.func @model(";
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i ? ",\n    " : "\n    ") + nameOf(arguments[i].value) + ": " +
            types[arguments[i].value] + " {" + arguments[i].attributes + "}";
  std::string names, resultTypes;
  for (size_t i = 0; i < results.size(); ++i) {
    names += (i ? ", " : "") + nameOf(results[i]);
    resultTypes += (i ? ", " : "") + types[results[i]];
  }
  text += ") -> (" + resultTypes + ") {\n";
  for (const Step &step : steps)
    text += step.text;
  return text + "  return " + names + " : " + resultTypes + "\n}\n";
}
