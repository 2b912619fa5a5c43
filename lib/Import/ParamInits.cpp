//===- ParamInits.cpp - initialisers of imported parameters ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ParamInits.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cmath>

using namespace mlir;
using namespace veeline;
using veeline::pipe::InitAttr;
using veeline::pipe::InitKind;

static InitAttr makeInit(MLIRContext *context, InitKind kind, double a = 0,
                         double b = 0) {
  return InitAttr::get(context, kind, APFloat(a), APFloat(b), ElementsAttr());
}

InitAttr veeline::constantInit(MLIRContext *context, double value) {
  return makeInit(context, InitKind::Constant, value);
}

InitAttr veeline::storedInit(ElementsAttr elements) {
  // Floats that the runtime does not support because they are too small become
  // f32.
  auto dense = dyn_cast<DenseFPElementsAttr>(elements);
  if (dense && dense.getElementType().getIntOrFloatBitWidth() < 16)
    elements = dense.mapValues(
        Float32Type::get(elements.getContext()), [](APFloat number) {
          bool lost = false;
          number.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                         &lost);
          return number.bitcastToAPInt();
        });
  return InitAttr::get(elements.getContext(), InitKind::Values, APFloat(0.0),
                       APFloat(0.0), elements);
}

InitAttr veeline::drawnInit(MLIRContext *context, const Uses &uses) {
  // Rows of this weight are looked up, so nothing is summed.
  if (uses.weight && uses.summed == 1)
    return makeInit(context, InitKind::Normal, 0.0, 0.02);
  if (uses.weight)
    return makeInit(context, InitKind::Normal, 0.0,
                    1.0 / std::sqrt(static_cast<double>(uses.summed)));
  return makeInit(context, uses.multiplied || uses.underRoot ? InitKind::Ones
                                                             : InitKind::Zeros);
}

bool veeline::isThere(ElementsAttr value) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  return !resource || resource.getRawHandle().getBlob();
}

std::optional<double> veeline::splatOf(ElementsAttr value) {
  auto dense = dyn_cast_or_null<DenseFPElementsAttr>(value);
  if (!dense || !dense.isSplat())
    return std::nullopt;
  return FloatAttr::getValueAsDouble(dense.getSplatValue<APFloat>());
}
