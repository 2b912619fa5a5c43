//===- TextMutator.cpp - texts that are almost right ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TextMutator.h"

#include <algorithm>
#include <cctype>

using namespace veeline::fuzz;

static bool isWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' ||
         c == '%' || c == '@' || c == '#';
}

static std::vector<std::string> tokenize(const std::string &text) {
  std::vector<std::string> tokens;
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    while (isWord(text[i]) && end < text.size() && isWord(text[end]))
      ++end;
    tokens.push_back(text.substr(i, end - i));
    i = end;
  }
  return tokens;
}

static std::string join(const std::vector<std::string> &tokens) {
  std::string text;
  for (const std::string &token : tokens)
    text += token;
  return text;
}

TextMutator::TextMutator(const std::vector<std::string> &texts) : texts(texts) {
  for (const std::string &text : texts)
    for (std::string &token : tokenize(text))
      if (isWord(token[0]))
        allTokens.push_back(std::move(token));
}

/// Another number, type or name, or a number within a type.
std::string TextMutator::editToken(const std::string &token,
                                   Random &random) const {
  static const std::vector<std::string> words = {"0",
                                                 "1",
                                                 "2",
                                                 "3",
                                                 "-1",
                                                 "?",
                                                 "9223372036854775807",
                                                 "4294967296",
                                                 "1e400",
                                                 "f32",
                                                 "f64",
                                                 "bf16",
                                                 "f16",
                                                 "i1",
                                                 "i32",
                                                 "i64",
                                                 "index",
                                                 "dense",
                                                 "tensor",
                                                 "*xf32",
                                                 "f8E4M3FN"};
  size_t digit = token.find_first_of("0123456789");
  if (digit != std::string::npos && random.chance(0.5)) {
    std::string edited = token;
    edited[digit] = static_cast<char>('0' + random.below(10));
    return edited;
  }
  return random.chance(0.5) ? random.oneOf(words) : random.oneOf(allTokens);
}

void TextMutator::editTokens(Tokens &tokens, Random &random) const {
  if (tokens.empty())
    return;
  auto at = [&] {
    return tokens.begin() + random.below(static_cast<int64_t>(tokens.size()));
  };
  auto place = at();
  switch (random.below(6)) {
  case 0:
    tokens.erase(place);
    break;
  case 1:
    tokens.insert(place, std::string(*place));
    break;
  case 2:
    std::iter_swap(place, at());
    break;
  default:
    // Mostly words, since every other token is a space or a bracket.
    for (int i = 0; i < 8 && !isWord((*place)[0]); ++i)
      place = at();
    *place = editToken(*place, random);
  }
}

/// [begin, end) of a line.
static std::pair<size_t, size_t> chooseLine(const std::string &text,
                                            Random &random) {
  size_t place =
      static_cast<size_t>(random.below(static_cast<int64_t>(text.size() + 1)));
  size_t begin = place == 0 ? 0 : text.rfind('\n', place - 1) + 1;
  size_t end = text.find('\n', place);
  return {begin, end == std::string::npos ? text.size() : end + 1};
}

void TextMutator::editLines(std::string &text, Random &random) const {
  auto [begin, end] = chooseLine(text, random);
  std::string line = text.substr(begin, end - begin);
  switch (random.below(5)) {
  case 0:
    text.erase(begin, end - begin);
    break;
  case 1:
    text.insert(begin, line);
    break;
  case 2: {
    const std::string &other = random.oneOf(texts);
    auto [first, last] = chooseLine(other, random);
    text.insert(begin, other.substr(first, last - first));
    break;
  }
  case 3: {
    text.erase(begin, end - begin);
    text.insert(chooseLine(text, random).first, line);
    break;
  }
  default:
    if (random.chance(0.3))
      text.resize(begin);
    else if (begin < text.size())
      text[begin] = static_cast<char>(random.below(256));
  }
}

std::string TextMutator::make(Random &random) const {
  std::string text = random.oneOf(texts);
  for (int64_t edits = random.between(1, 3); edits; --edits) {
    if (random.chance(0.3)) {
      editLines(text, random);
      continue;
    }
    Tokens tokens = tokenize(text);
    editTokens(tokens, random);
    text = join(tokens);
  }
  return text;
}
