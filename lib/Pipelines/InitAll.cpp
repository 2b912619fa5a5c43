//===- InitAll.cpp - registers all of Veeline -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/InitAll.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void veeline::registerEveryDialect(mlir::DialectRegistry &registry) {
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  veeline::registerAllDialects(registry);
}

void veeline::registerEveryPass() {
  mlir::registerAllPasses();
  veeline::registerAllPasses();
}
