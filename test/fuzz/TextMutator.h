//===- TextMutator.h - texts that are almost right --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TEST_FUZZ_TEXTMUTATOR_H
#define VEELINE_TEST_FUZZ_TEXTMUTATOR_H

#include "Random.h"

#include <string>
#include <string_view>
#include <vector>

namespace veeline::fuzz {

/// Makes wrong texts of right ones: tokens, lines and bytes are removed,
/// doubled, exchanged, or taken from another text.
class TextMutator {
public:
  explicit TextMutator(const std::vector<std::string> &texts);

  /// A text that depends on `random` alone.
  std::string make(Random &random) const;

private:
  using Tokens = std::vector<std::string>;
  void editTokens(Tokens &tokens, Random &random) const;
  void editLines(std::string &text, Random &random) const;
  std::string editToken(const std::string &token, Random &random) const;

  const std::vector<std::string> &texts;
  Tokens allTokens;
};

} // namespace veeline::fuzz

#endif // VEELINE_TEST_FUZZ_TEXTMUTATOR_H
