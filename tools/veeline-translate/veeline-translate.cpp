//===- veeline-translate.cpp - IR to other formats and back ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Version.h"
#include "Translations.h"

#include "mlir/InitAllTranslations.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"

int main(int argc, char **argv) {
  veeline::addVersion();
  mlir::registerAllTranslations();
  veeline::translate::registerFromPrograms();
  veeline::translate::registerToPrograms();
  return mlir::failed(mlir::mlirTranslateMain(
      argc, argv, "Veeline: programs and schedules, and what MLIR translates"));
}
