#ifndef ACT_H
#define ACT_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "veeline/Analysis/CostOpInterface.h"
#include "veeline/Autodiff/DifferentiableOpInterface.h"

#include "ActDialect.h.inc"

// The methods of upstream's interfaces name MLIR's types without their
// namespace.
namespace act {
using namespace mlir;
}

#define GET_OP_CLASSES
#include "ActOps.h.inc"

#endif // ACT_H
