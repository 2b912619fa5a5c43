//===- Compiler.cpp - loading the compiler on demand ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLine.h"

#include "veeline/Support/CommandLine.h"

#include <dlfcn.h>

using namespace veeline;

int driver::runCompiler(int argc, const char *const *argv) {
  std::string path = libraryDirectory() + "/libVeelineCompiler.so";
  void *library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    commandline::printError(
        std::string("'") + argv[0] +
        "' needs the compiler, which cannot be loaded: " + ::dlerror() +
        "; install Veeline's compiler and LLVM, or compile the model on "
        "a machine that has them");
    return 1;
  }
  using Main = int(int argc, const char *const *argv);
  auto *main =
      reinterpret_cast<Main *>(::dlsym(library, "veeline_compiler_main"));
  if (!main) {
    commandline::printError("'" + path +
                            "' is no compiler of this version: " + ::dlerror());
    return 1;
  }
  return main(argc, argv);
}
