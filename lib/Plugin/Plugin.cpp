//===- Plugin.cpp - our dialect and passes in mlir-opt --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt loads this file and calls its two functions. The passes are in
// libVeelineCompiler.so, beside it. That library is loaded only into a program
// that runs the MLIR it was built with. Otherwise it would load its own copy of
// MLIR, and a process with two copies crashes.
//
//===----------------------------------------------------------------------===//

#include "veeline/MlirVersion.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#include <cstdio>
#include <dlfcn.h>
#include <string>

/// mlir::registerPass. The file that defines it is the MLIR of the process.
static constexpr const char *symbolOfMlir =
    "_ZN4mlir12registerPassERKSt8functionIFSt10unique_ptrINS_4PassESt14default_"
    "deleteIS2_EEvEE";

#define VEELINE_STRING(x) #x
#define VEELINE_SERIES(major, minor)                                           \
  VEELINE_STRING(major) "." VEELINE_STRING(minor)
static constexpr const char *series =
    VEELINE_SERIES(VEELINE_MLIR_VERSION_MAJOR, VEELINE_MLIR_VERSION_MINOR);

/// Describes what is wrong with the MLIR of this process. Empty if nothing is.
static std::string findMismatch() {
  using GetVersion = void(unsigned *major, unsigned *minor, unsigned *patch);
  auto *getVersion =
      reinterpret_cast<GetVersion *>(::dlsym(RTLD_DEFAULT, "LLVMGetVersion"));
  unsigned major = 0, minor = 0, patch = 0;
  if (getVersion)
    getVersion(&major, &minor, &patch);
  if (getVersion && (major != VEELINE_MLIR_VERSION_MAJOR ||
                     minor != VEELINE_MLIR_VERSION_MINOR))
    return "it was built with MLIR " VEELINE_MLIR_VERSION
           ", and this program runs MLIR " +
           std::to_string(major) + "." + std::to_string(minor) + "." +
           std::to_string(patch) + ": use the mlir-opt of MLIR " + series +
           ", or build Veeline with that one";
  if (getVersion && ::dlsym(RTLD_DEFAULT, symbolOfMlir))
    return {};
  return std::string("this program has no libMLIR.so and libLLVM.so that a "
                     "plugin could share: load it into the mlir-opt of an "
                     "MLIR ") +
         series + " that is built with shared libraries";
}

/// The function `symbol` of the compiler's library. Prints a message and
/// returns null if there is none.
static void *load(const char *symbol) {
  std::string problem = findMismatch();
  void *function = nullptr;
  if (problem.empty()) {
    Dl_info self = {};
    ::dladdr(reinterpret_cast<void *>(&findMismatch), &self);
    std::string path = self.dli_fname ? self.dli_fname : "";
    path = path.substr(0, path.rfind('/') + 1) + "libVeelineCompiler.so";
    void *library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    function = library ? ::dlsym(library, symbol) : nullptr;
    if (!function)
      problem = ::dlerror();
  }
  if (!function)
    std::fprintf(stderr, "error: Veeline's plugin cannot be loaded: %s\n",
                 problem.c_str());
  return function;
}

/// Not a version of the interface: mlir-opt refuses a plugin with it.
static constexpr uint32_t refused = 0;

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  auto *function =
      reinterpret_cast<void (*)()>(load("veeline_register_passes"));
  return {function ? MLIR_PLUGIN_API_VERSION : refused, "Veeline",
          VEELINE_VERSION, function};
}

extern "C" LLVM_ATTRIBUTE_VISIBILITY_DEFAULT mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  auto *function = reinterpret_cast<void (*)(mlir::DialectRegistry *)>(
      load("veeline_register_dialects"));
  return {function ? MLIR_PLUGIN_API_VERSION : refused, "Veeline",
          VEELINE_VERSION, function};
}
