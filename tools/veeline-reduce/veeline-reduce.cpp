//===- veeline-reduce.cpp - reducing a file that shows an error -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Version.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "veeline/InitAll.h"

int main(int argc, char **argv) {
  veeline::addVersion();
  veeline::registerEveryPass();
  mlir::DialectRegistry registry;
  veeline::registerEveryDialect(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
