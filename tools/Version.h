//===- Version.h - the version that MLIR's tools print ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TOOLS_VERSION_H
#define VEELINE_TOOLS_VERSION_H

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace veeline {

/// Makes --version print Veeline's version after LLVM's.
inline void addVersion() {
  llvm::cl::AddExtraVersionPrinter(
      [](llvm::raw_ostream &out) { out << "Veeline " VEELINE_VERSION "\n"; });
}

} // namespace veeline

#endif // VEELINE_TOOLS_VERSION_H
