//===- MachineChoice.h - choosing the machine's table -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_COMPILER_MACHINECHOICE_H
#define VEELINE_COMPILER_MACHINECHOICE_H

#include "veeline/Compiler/Options.h"

#include "mlir/Support/LLVM.h"

namespace veeline::compiler {

/// Sets the machine table whose times `command` uses. It is the one that the
/// command names, or else that of the user's cache if its CPU is the one to
/// compile for; empty: none. Prints the reason if a cached table is not used.
/// Fails after a message if a named table cannot be used.
mlir::LogicalResult chooseMachineTable(CompileCommand &command);
/// The same for the times of a model's pieces on this CPU.
mlir::LogicalResult chooseMachineTable(InspectCommand &command);

} // namespace veeline::compiler

#endif // VEELINE_COMPILER_MACHINECHOICE_H
