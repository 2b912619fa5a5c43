//===- Register.cpp - entry points for the plugin of mlir-opt -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/InitAll.h"

/// Registers all passes and pipelines in the program that loads this library.
extern "C" __attribute__((visibility("default"))) void
veeline_register_passes() {
  veeline::registerAllPasses();
}

/// Adds the dialect and the interfaces to `registry`.
extern "C" __attribute__((visibility("default"))) void
veeline_register_dialects(mlir::DialectRegistry *registry) {
  veeline::registerAllDialects(*registry);
}
