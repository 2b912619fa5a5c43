//===- OptionChecks.h - consistency of compile's options --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_COMPILER_OPTIONCHECKS_H
#define VEELINE_LIB_COMPILER_OPTIONCHECKS_H

#include "veeline/Compiler/Options.h"

#include <string>

namespace CLI {
class App;
} // namespace CLI

namespace veeline::compiler {

/// Checks names, and options that depend on each other. Returns what is wrong,
/// or an empty string. Takes over the sizes of a schedule file. `app` knows
/// which options were given.
std::string checkOptions(const CLI::App &app, CompileCommand &command);

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_OPTIONCHECKS_H
