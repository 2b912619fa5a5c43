//===- CostOpInterface.h - what an op costs ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_COSTOPINTERFACE_H
#define VEELINE_ANALYSIS_COSTOPINTERFACE_H

#include "veeline/Analysis/CostModel.h"
#include "veeline/MlirVersion.h"

#include "mlir/IR/OpDefinition.h"

#include "veeline/Analysis/CostOpInterface.h.inc"

#endif // VEELINE_ANALYSIS_COSTOPINTERFACE_H
