//===- Documented.h - a language server with documentation ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LSP_SERVER_DOCUMENTED_H
#define VEELINE_LSP_SERVER_DOCUMENTED_H

#include "llvm/ADT/StringRef.h"

#include <functional>
#include <string>

namespace veeline::lsp {

/// Runs `serve`, a language server on standard input and output, as a child of
/// this process, and passes messages between it and the editor. It adds the
/// documentation of the op to answers of textDocument/hover, and changes no
/// other message. Returns the exit code of the process.
int runDocumented(const std::function<int()> &serve);

/// The summary, the syntax and the description of one of our ops, as Markdown.
/// Empty for any other name.
std::string documentationOf(llvm::StringRef op);

} // namespace veeline::lsp

#endif // VEELINE_LSP_SERVER_DOCUMENTED_H
