//===- Parse.h - from a file to a module ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_IMPORT_PARSE_H
#define VEELINE_IMPORT_PARSE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace veeline {

/// Parses the main file of `sources`, text or bytecode, and explains old
/// syntax. A model in StableHLO is lowered first, where its program is found.
/// Returns null after a diagnostic. This includes crashes of MLIR's parser on a
/// malformed file, which some custom parsers of ops cause after an error. The
/// process should end soon after that, since their memory leaks.
mlir::OwningOpRef<mlir::ModuleOp> parseModel(llvm::SourceMgr &sources,
                                             mlir::MLIRContext &context);

} // namespace veeline

#endif // VEELINE_IMPORT_PARSE_H
