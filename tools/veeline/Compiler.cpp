//===- Compiler.cpp - loading the compiler on demand ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "veeline/Base/CommandLine.h"
#include "veeline/Compiler/Options.h"

#include <dlfcn.h>

using namespace veeline;

/// Loads the compiler's library. If that fails, returns null and sets
/// `problem`.
static void *openCompiler(std::string &problem) {
  std::string path = driver::libraryDirectory() + "/libVeelineCompiler.so";
  // Lazy binding, because binding MLIR's tens of thousands of calls takes
  // longer than most commands. The compiler's own symbols are bound now (it is
  // linked with -z now), so that another MLIR is detected here.
  void *library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library)
    problem = ::dlerror();
  return library;
}

static void printMissing(const std::string &command,
                         const std::string &problem) {
  commandline::printError("'" + command +
                          "' needs the compiler, which cannot be loaded: " +
                          problem + "; install veeline-tools, or use '" +
                          command + "' on a machine that has it");
}

static void *findIn(void *library, const char *symbol) {
  void *function = ::dlsym(library, symbol);
  if (!function)
    commandline::printError("the compiler is not of this version: " +
                            std::string(::dlerror()));
  return function;
}

void *driver::loadCompiler(const std::string &command, const char *symbol) {
  std::string problem;
  if (void *library = openCompiler(problem))
    return findIn(library, symbol);
  printMissing(command, problem);
  return nullptr;
}

/// Does what needs no compiler: help, completions, errors of usage, and most of
/// `doctor`.
static int runWithoutCompiler(int argc, const char *const *argv,
                              const std::string &problem) {
  std::string name = argv[0];
  if (name == "doctor") {
    auto doctor = compiler::parseDoctor(argc, argv);
    if (!doctor.command)
      return doctor.exitCode;
    if (!doctor.command->calibrate) {
      driver::describeMachine(*doctor.command, problem);
      return 0;
    }
    name += " --calibrate";
  } else if (name == "inspect") {
    if (auto inspect = compiler::parseInspect(argc, argv); !inspect.command)
      return inspect.exitCode;
  } else {
    if (auto compile = compiler::parseCompile(argc, argv); !compile.command)
      return compile.exitCode;
  }
  printMissing(name, problem);
  return 1;
}

int driver::runCompiler(int argc, const char *const *argv) {
  using Main = int(int argc, const char *const *argv);
  std::string problem;
  void *library = openCompiler(problem);
  if (!library)
    return runWithoutCompiler(argc, argv, problem);
  auto *main =
      reinterpret_cast<Main *>(findIn(library, "veeline_compiler_main"));
  return main ? main(argc, argv) : 1;
}
