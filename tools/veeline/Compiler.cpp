//===- Compiler.cpp - loading the compiler on demand ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "veeline/Base/CommandLine.h"

#include <dlfcn.h>

using namespace veeline;

void *driver::loadCompiler(const std::string &command, const char *symbol) {
  std::string path = libraryDirectory() + "/libVeelineCompiler.so";
  // Lazy binding, because binding MLIR's tens of thousands of calls takes
  // longer than most commands. The compiler's own symbols are bound now (it is
  // linked with -z now), so that another MLIR is detected here.
  void *library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    commandline::printError(
        "'" + command +
        "' needs the compiler, which cannot be loaded: " + ::dlerror() +
        "; install Veeline's compiler and LLVM, or compile the model on "
        "a machine that has them");
    return nullptr;
  }
  void *function = ::dlsym(library, symbol);
  if (!function)
    commandline::printError("'" + path +
                            "' is no compiler of this version: " + ::dlerror());
  return function;
}

int driver::runCompiler(int argc, const char *const *argv) {
  using Main = int(int argc, const char *const *argv);
  auto *main =
      reinterpret_cast<Main *>(loadCompiler(argv[0], "veeline_compiler_main"));
  return main ? main(argc, argv) : 1;
}
