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

/// The data source that one --data option specifies.
struct Spec {
  /// `fed` is never parsed; see InputOptions::otherwise.
  enum class Kind { text, tokens, npy, safeTensors, random, fed };
  std::string argument;
  Kind kind = Kind::npy;
  std::string file;     ///< For tokens: the list, as it is written.
  std::string entry;    ///< For safeTensors.
  int64_t shift = 0;    ///< For text and tokens.
  bool isFixed = false; ///< For random.
  std::vector<TokenFileSpec> tokenFiles;
  TokenView view; ///< For tokens.

  /// Whether the source provides windows of one long row.
  bool isWindow() const { return kind == Kind::text || kind == Kind::tokens; }
  /// The files that the source reads.
  std::vector<std::string> files() const;
};

/// Parses "NAME=SOURCE", the value of option `option`. The error explains the
/// syntax.
Expected<Spec> parseSpec(const std::string &text, const std::string &option);

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_SPEC_H
