//===- veeline-lsp-server.cpp - the language server for .mlir files -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Version.h"
#include "Documented.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "veeline/InitAll.h"

/// Runs MLIR's server.
static int serve(int argc, char **argv) {
  mlir::DialectRegistry registry;
  veeline::registerEveryDialect(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}

int main(int argc, char **argv) {
  veeline::addVersion();
  // With options, MLIR's developers run MLIR's own tests, which write messages
  // in another form.
  return argc > 1
             ? serve(argc, argv)
             : veeline::lsp::runDocumented([&] { return serve(argc, argv); });
}
