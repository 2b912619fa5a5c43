//===- Spec.cpp - a source of data, as the user writes it -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Spec.h"

#include <charconv>
#include <string_view>

using namespace veeline;
using namespace veeline::data;

/// `text` is the option with its value.
static Status badSpec(const std::string &text, const std::string &why) {
  return Status::error(text + ": " + why +
                       "; write NAME=FILE.npy, NAME=FILE.safetensors:ENTRY, "
                       "NAME=text:FILE, NAME=text:FILE:shift=K, NAME=random or "
                       "NAME=random:fixed");
}

static Expected<Spec> parseTextSpec(const std::string &text, Spec spec,
                                    std::string source) {
  constexpr std::string_view option = ":shift=";
  size_t at = source.rfind(option);
  if (at != std::string::npos) {
    const char *begin = source.data() + at + option.size();
    const char *end = source.data() + source.size();
    auto [next, error] = std::from_chars(begin, end, spec.shift);
    if (error != std::errc() || next != end || spec.shift < 0)
      return badSpec(text, "the shift is no number of bytes");
    source.resize(at);
  }
  spec.kind = Spec::Kind::text;
  spec.file = source;
  return spec;
}

Expected<Spec> data::parseSpec(const std::string &text,
                               const std::string &option) {
  std::string given = option + " " + text;
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return badSpec(given, "it names no argument or no source");
  Spec spec;
  spec.argument = text.substr(0, equals);
  std::string source = text.substr(equals + 1);
  constexpr std::string_view textPrefix = "text:";
  if (source.starts_with(textPrefix))
    return parseTextSpec(given, spec, source.substr(textPrefix.size()));
  if (source == "random" || source == "random:fixed") {
    spec.kind = Spec::Kind::random;
    spec.isFixed = source != "random";
    return spec;
  }
  constexpr std::string_view safeTensors = ".safetensors:";
  size_t at = source.rfind(safeTensors);
  if (at != std::string::npos) {
    spec.kind = Spec::Kind::safeTensors;
    spec.file = source.substr(0, at + safeTensors.size() - 1);
    spec.entry = source.substr(at + safeTensors.size());
    return spec;
  }
  if (!source.ends_with(".npy"))
    return badSpec(given, "'" + source + "' is of no known kind");
  spec.file = source;
  return spec;
}
