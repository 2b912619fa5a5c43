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

/// Sets the table whose times `command` uses: the one that it names, or else
/// that of the user's cache if it is of the CPU that is compiled for; empty:
/// none. Prints why a cached one is not used. Fails after a message about one
/// that was named.
mlir::LogicalResult chooseMachineTable(CompileCommand &command);
/// The same for the times of a model's pieces, on this CPU.
mlir::LogicalResult chooseMachineTable(InspectCommand &command);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_MACHINECHOICE_H
