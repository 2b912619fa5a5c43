//===- TokenFile.h - files of tokens ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_DATA_TOKENFILE_H
#define VEELINE_RUNTIME_DATA_TOKENFILE_H

#include "veeline/status.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace veeline::data {

/// The type of tokens in a file, which are little-endian.
enum class TokenType : uint8_t { u8, i8, u16, i16, u32, i32, u64, i64 };

/// Finds a type by NumPy's name, such as "uint16".
std::optional<TokenType> findTokenType(std::string_view name);
std::string_view name(TokenType type);
/// Returns "uint8, int8, ...", for messages.
std::string namesOfTokenTypes();
int64_t byteSize(TokenType type);
/// The least and the greatest value of a type. For u64, the greatest is that of
/// int64_t.
std::pair<int64_t, int64_t> extremesOf(TokenType type);

/// What a batch argument gets for each token of a window. `separator` is the
/// token that ends a document.
struct TokenView {
  enum class Kind {
    tokens,    ///< The tokens themselves.
    documents, ///< The number of separators before a token in its window.
    /// The number of tokens of its document before it in the window.
    positions,
    inside, ///< 1 if the next token is of the same document, else 0.
  };
  Kind kind = Kind::tokens;
  int64_t separator = 0;
};

/// Returns a text such as ":documents=5"; an empty one for plain tokens.
std::string describe(const TokenView &view);

/// One file of a list, as the user writes it.
struct TokenFileSpec {
  std::string path;
  std::optional<TokenType> type; ///< None: the .npy file has it.
  std::optional<double> weight;
};

/// Parses a list such as "FILE.npy", "FILE:TYPE", either with ":weight=W",
/// separated by commas. Messages do not name the option.
Expected<std::vector<TokenFileSpec>> parseTokenFiles(std::string_view text);

/// A sequence of tokens in memory.
struct Tokens {
  TokenType type = TokenType::u16;
  std::string_view bytes;

  int64_t count() const {
    return static_cast<int64_t>(bytes.size()) / byteSize(type);
  }
  /// Writes tokens [first, first + count) to `target`. Numbers greater than any
  /// int64_t become the greatest int64_t.
  void load(int64_t first, int64_t count, int64_t *target) const;
};

/// Returns the tokens of a file whose content is `file`: all of it, or the
/// one-dimensional array of a .npy file. Messages name the file.
Expected<Tokens> openTokens(const TokenFileSpec &spec, std::string_view file);

} // namespace veeline::data

#endif // VEELINE_RUNTIME_DATA_TOKENFILE_H
