//===- veeline-lsp-server.cpp - what editors ask about a .mlir file -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Documented.h"

#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "veeline/InitAll.h"

/// MLIR's server, which says of an op in general what it is.
static int serve(int argc, char **argv) {
  mlir::DialectRegistry registry;
  veeline::registerEveryDialect(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}

int main(int argc, char **argv) {
  // Options are for MLIR's developers, whose tests write messages otherwise.
  return argc > 1
             ? serve(argc, argv)
             : veeline::lsp::runDocumented([&] { return serve(argc, argv); });
}
