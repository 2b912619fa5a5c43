//===- Main.cpp - the entry point of the driver ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Base/CommandLine.h"
#include "veeline/Compiler/Compiler.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>

using namespace veeline;

static int runCommand(int argc, const char *const *argv) {
  if (argc > 0 && std::strcmp(argv[0], "inspect") == 0)
    return compiler::inspectMain(argc, argv);
  if (argc > 0 && std::strcmp(argv[0], "doctor") == 0)
    return compiler::doctorMain(argc, argv);
  return compiler::compileMain(argc, argv);
}

/// Output that is lost, for example on a full disk, is an error. LLVM would
/// report it only when the stream is destroyed, and abort in its own words.
static int checkOutput(int status) {
  llvm::outs().flush();
  bool isWritten = !llvm::outs().has_error();
  llvm::outs().clear_error();
  if (isWritten || status != 0)
    return status;
  commandline::printError("standard output could not be written");
  return 1;
}

/// Runs the command argv[0], "compile", "inspect" or "doctor", and returns the
/// exit code of the process.
extern "C" __attribute__((visibility("default"))) int
veeline_compiler_main(int argc, const char *const *argv) {
  return checkOutput(runCommand(argc, argv));
}
