//===- StableHlo.h - models in StableHLO ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JAX and others export StableHLO. A StableHLO release is built for one commit
// of MLIR, which is rarely ours, so its own program lowers models, in a process
// of its own, and text is what the two exchange.
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_IMPORT_STABLEHLO_H
#define VEELINE_IMPORT_STABLEHLO_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>

namespace veeline {

/// The variable of the environment that names the program.
inline constexpr const char *stableHloVariable = "VEELINE_STABLEHLO_OPT";

/// Whether a line of `text` has an op of StableHLO or CHLO outside of comments.
bool hasStableHlo(llvm::StringRef text);

/// The program that lowers StableHLO: what the environment names, also if it is
/// empty; else stablehlo-opt of PATH, else what CMake has found if it is still
/// there. Empty: none.
std::string findStableHloOpt();

/// Lowers `model` to linalg by running `program`. Names of arguments and places
/// in the file are kept. Returns null after an error at `place`, with what the
/// program says as a note.
std::unique_ptr<llvm::MemoryBuffer>
lowerStableHlo(const std::string &program, const llvm::MemoryBuffer &model,
               mlir::Location place);

} // namespace veeline

#endif // VEELINE_IMPORT_STABLEHLO_H
