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

/// What is wrong with names and with options that depend on each other, or
/// empty. Takes over the sizes of a schedule that is a file. `app` says which
/// options were given.
std::string checkOptions(const CLI::App &app, CompileCommand &command);

} // namespace veeline::compiler

#endif // VEELINE_LIB_COMPILER_OPTIONCHECKS_H
