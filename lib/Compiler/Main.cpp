//===- Main.cpp - the entry point of the driver ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Compiler/Compiler.h"

#include <cstring>

/// Runs the command argv[0], "compile", "inspect" or "doctor", and returns the
/// exit code of the process.
extern "C" __attribute__((visibility("default"))) int
veeline_compiler_main(int argc, const char *const *argv) {
  if (argc > 0 && std::strcmp(argv[0], "inspect") == 0)
    return veeline::compiler::inspectMain(argc, argv);
  if (argc > 0 && std::strcmp(argv[0], "doctor") == 0)
    return veeline::compiler::doctorMain(argc, argv);
  return veeline::compiler::compileMain(argc, argv);
}
