//===- Spec.cpp - a data source as the user specifies it ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Spec.h"

#include <algorithm>
#include <charconv>
#include <string_view>

using namespace veeline;
using namespace veeline::data;

/// An error about `text`, the option with its value.
static Status badSpec(const std::string &text, const std::string &why) {
  return Status::error(text + ": " + why +
                       "; write NAME=FILE.npy, NAME=FILE.safetensors:ENTRY, "
                       "NAME=text:FILE, NAME=text:FILE:shift=K, "
                       "NAME=tokens:FILE.npy, NAME=tokens:FILE.bin:uint16, "
                       "NAME=random or NAME=random:fixed");
}

/// Larger than any file, and small enough that adding a window does not
/// overflow.
static constexpr int64_t maxShift = int64_t(1) << 48;

static Expected<Spec> parseTextSpec(const std::string &text, Spec spec,
                                    std::string source) {
  constexpr std::string_view option = ":shift=";
  size_t at = source.rfind(option);
  if (at != std::string::npos) {
    const char *begin = source.data() + at + option.size();
    const char *end = source.data() + source.size();
    auto [next, error] = std::from_chars(begin, end, spec.shift);
    if (error != std::errc() || next != end || spec.shift < 0 ||
        spec.shift > maxShift)
      return badSpec(text, "the shift is no number of bytes");
    source.resize(at);
  }
  spec.kind = Spec::Kind::text;
  spec.file = source;
  return spec;
}

/// Removes ":OPTION=NUMBER" from the end of `source`. Returns false if there is
/// no such option.
static bool takeOption(std::string &source, std::string_view option,
                       std::optional<int64_t> &number) {
  size_t at = source.rfind(option);
  if (at == std::string::npos || source.find(':', at + 1) != std::string::npos)
    return false;
  const char *begin = source.data() + at + option.size();
  const char *end = source.data() + source.size();
  int64_t value = 0;
  auto [next, error] = std::from_chars(begin, end, value);
  number = error == std::errc() && next == end && value >= 0
               ? std::optional(value)
               : std::nullopt;
  source.resize(at);
  return true;
}

/// Options that apply to all files are at the end, in any order.
static Status parseTokenOptions(const std::string &text, Spec &spec,
                                std::string &source) {
  using Kind = TokenView::Kind;
  std::optional<int64_t> number, shift;
  for (bool isTaken = true; isTaken;) {
    isTaken = takeOption(source, ":shift=", number);
    if (isTaken && (!number || *number > maxShift))
      return badSpec(text, "the shift is no number of tokens");
    if (isTaken && shift)
      return badSpec(text, "it is shifted twice");
    if (isTaken)
      spec.shift = *(shift = number);
    for (auto [option, kind] : {std::pair(":documents=", Kind::documents),
                                std::pair(":positions=", Kind::positions),
                                std::pair(":inside=", Kind::inside)}) {
      if (!takeOption(source, option, number))
        continue;
      isTaken = true;
      if (!number || spec.view.kind != Kind::tokens)
        return badSpec(text, number ? "it gives two things of its tokens"
                                    : "the token that ends a document is no "
                                      "number of 0 or more");
      spec.view = {kind, *number};
    }
  }
  return Status::success();
}

static Expected<Spec> parseTokenSpec(const std::string &text, Spec spec,
                                     std::string source) {
  spec.kind = Spec::Kind::tokens;
  VEELINE_TRY(parseTokenOptions(text, spec, source));
  spec.file = source;
  Expected<std::vector<TokenFileSpec>> files = parseTokenFiles(source);
  if (!files.ok())
    return Status::error(text + ": " + files.message());
  spec.tokenFiles = std::move(*files);
  return spec;
}

std::vector<std::string> Spec::files() const {
  if (kind != Kind::tokens)
    return file.empty() ? std::vector<std::string>() : std::vector{file};
  std::vector<std::string> paths(tokenFiles.size());
  std::ranges::transform(tokenFiles, paths.begin(), &TokenFileSpec::path);
  return paths;
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
  constexpr std::string_view tokensPrefix = "tokens:";
  if (source.starts_with(tokensPrefix))
    return parseTokenSpec(given, spec, source.substr(tokensPrefix.size()));
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
