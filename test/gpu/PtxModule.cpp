//===- PtxModule.cpp - kernels of a PTX text ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxText.h"

using namespace veeline::gpu;

/// As in `.global .align 8 .b8 name[4] = {1, 2, 3, 4}`: all of ours are bytes.
static void addConstant(std::string_view line, PtxSource &source) {
  std::optional<Variable> variable = parseVariable(line, ".global ");
  size_t brace = line.find('{');
  if (!variable || brace == std::string_view::npos)
    return;
  auto size = static_cast<size_t>(variable->bytes);
  std::string bytes(size, 0);
  std::string_view values = line.substr(brace + 1);
  size_t i = 0;
  for (std::string_view value : splitOperands(takeUntil(values, "}")))
    if (i < size)
      bytes[i++] = static_cast<char>(parseNumber(value).value_or(0));
  std::vector<uint64_t> &words = source.constants[variable->name];
  words.resize((size + 7) / 8);
  std::memcpy(words.data(), bytes.data(), size);
}

/// The last word before a parenthesis.
static std::string nameOf(std::string_view line) {
  std::string_view name = trim(takeUntil(line, "("));
  size_t space = name.find_last_of(whitespace);
  return std::string(
      name.substr(space == std::string_view::npos ? 0 : space + 1));
}

PtxModule::PtxModule(std::string text) {
  source.text = std::move(text);
  std::string_view rest = source.text;
  bool isInside = false;
  std::string function;
  size_t begin = 0;
  while (!rest.empty()) {
    auto place = static_cast<size_t>(rest.data() - source.text.data());
    std::string_view line = takeLine(rest);
    if (line.starts_with(".visible .entry "))
      source.kernels.emplace(nameOf(line), place);
    if (line.starts_with(".func ")) {
      std::string_view head = trim(line.substr(6));
      takeGroup(head);
      function = nameOf(head);
      begin = place;
    }
    // Without a body it is only declared.
    if (line == "{" && !isInside && !function.empty())
      source.functions.emplace(function, begin);
    if (line == "{" || line == ";")
      function.clear();
    isInside |= line == "{";
    isInside &= line != "}";
    if (isInside)
      continue;
    addConstant(line, source);
    if (auto variable = parseVariable(line, ".shared "))
      source.shared.push_back(*variable);
  }
}

int64_t PtxKernel::staticSharedBytes() const {
  int64_t end = 0;
  for (const Variable &variable : shared)
    if (variable.bytes >= 0)
      end = (end + variable.alignment - 1) / variable.alignment *
                variable.alignment +
            variable.bytes;
  return end;
}

std::vector<std::string> PtxModule::names() const {
  std::vector<std::string> all;
  for (const auto &[name, place] : source.kernels)
    all.push_back(name);
  return all;
}

const PtxKernel *PtxModule::get(const std::string &name, std::string &message) {
  if (!has(name)) {
    message = "the PTX has no kernel " + name;
    return nullptr;
  }
  std::unique_ptr<PtxKernel> &kernel = kernels[name];
  if (kernel)
    return kernel.get();
  auto read = std::make_unique<PtxKernel>();
  read->name = name;
  message = parseKernel(source, *read);
  if (!message.empty())
    return nullptr;
  kernel = std::move(read);
  return kernel.get();
}
