//===- MachineChoice.h - which table times are taken from -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_MACHINECHOICE_H
#define VEELINE_COMPILER_MACHINECHOICE_H

#include "veeline/Compiler/Options.h"

#include "mlir/Support/LLVM.h"

namespace veeline::compiler {

/// Sets the table whose times `command` uses: the one that it names, or that of
/// the user's cache where it is of the CPU that is compiled for; empty: none.
/// Says why one of the cache is not used, and fails after a message about one
/// that was named.
mlir::LogicalResult chooseMachineTable(CompileCommand &command);
/// The same for the times of a model's pieces, on this CPU.
mlir::LogicalResult chooseMachineTable(InspectCommand &command);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_MACHINECHOICE_H
