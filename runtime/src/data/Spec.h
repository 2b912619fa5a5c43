//===- Spec.h - a data source as the user specifies it ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_SPEC_H
#define VEELINE_RUNTIME_DATA_SPEC_H

#include "TokenFile.h"
#include "veeline/status.h"

#include <cstdint>
#include <string>

namespace veeline::data {

/// What one --data says.
struct Spec {
  /// `fed` is never parsed: see InputOptions::otherwise.
  enum class Kind { text, tokens, npy, safeTensors, random, fed };
  std::string argument;
  Kind kind = Kind::npy;
  std::string file;     ///< Of tokens: the list, as it is written.
  std::string entry;    ///< Of safeTensors.
  int64_t shift = 0;    ///< Of text and tokens.
  bool isFixed = false; ///< Of random.
  std::vector<TokenFileSpec> tokenFiles;
  TokenView view; ///< Of tokens.

  /// Whether it gives windows of one long row.
  bool isWindow() const { return kind == Kind::text || kind == Kind::tokens; }
  /// The files that it reads.
  std::vector<std::string> files() const;
};

/// Reads "NAME=SOURCE", which `option` is given; the error says how it is
/// written.
Expected<Spec> parseSpec(const std::string &text, const std::string &option);

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_SPEC_H
