//===- Retype.cpp - --pipe-import-retype ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Model.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "veeline/Import/Passes.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEIMPORTRETYPE
#include "veeline/Import/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

static bool isNarrow(Type type) {
  auto number = dyn_cast<FloatType>(type);
  return number && number.getWidth() < 64;
}

static APFloat widen(APFloat number) {
  bool lost = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
  return number;
}

static Attribute widen(DenseFPElementsAttr dense) {
  return dense.mapValues(
      Float64Type::get(dense.getContext()),
      [](const APFloat &number) { return widen(number).bitcastToAPInt(); });
}

/// Widens a resource. If the file leaves out its elements, so does the result.
static Attribute widen(DenseResourceElementsAttr resource) {
  ShapedType type = resource.getShapedType();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  bool isSplat = false;
  if (blob &&
      DenseElementsAttr::isValidRawBuffer(type, blob->getData(), isSplat))
    return widen(cast<DenseFPElementsAttr>(
        DenseElementsAttr::getFromRawBuffer(type, blob->getData())));
  return DenseResourceElementsAttr::get(
      type.clone(Float64Type::get(type.getContext())), resource.getRawHandle());
}

static AttrTypeReplacer createReplacer() {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FloatType type) -> std::optional<Type> {
    if (isNarrow(type))
      return Float64Type::get(type.getContext());
    return std::nullopt;
  });
  using Result = std::optional<std::pair<Attribute, WalkResult>>;
  replacer.addReplacement([](FloatAttr number) -> Result {
    if (!isNarrow(number.getType()))
      return std::nullopt;
    return {{FloatAttr::get(Float64Type::get(number.getContext()),
                            widen(number.getValue())),
             WalkResult::skip()}};
  });
  replacer.addReplacement([](DenseFPElementsAttr dense) -> Result {
    if (!isNarrow(dense.getElementType()))
      return std::nullopt;
    return {{widen(dense), WalkResult::skip()}};
  });
  replacer.addReplacement([](DenseResourceElementsAttr resource) -> Result {
    if (!isNarrow(resource.getShapedType().getElementType()))
      return std::nullopt;
    return {{widen(resource), WalkResult::skip()}};
  });
  return replacer;
}

/// Refuses ops that use the bits of a float instead of its value.
static LogicalResult refuseBits(ModuleOp module) {
  WalkResult result = module.walk([](arith::BitcastOp op) {
    if (!isa<FloatType>(getElementTypeOrSelf(op.getIn().getType())) &&
        !isa<FloatType>(getElementTypeOrSelf(op.getType())))
      return WalkResult::advance();
    op.emitError("takes the bits of a float of type ")
        << op.getIn().getType() << " to " << op.getType()
        << ", which would be others in another type: this model cannot be "
           "retyped";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult retype(ModuleOp module) {
  if (failed(refuseBits(module)))
    return failure();
  createReplacer().recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                                /*replaceLocs=*/false,
                                                /*replaceTypes=*/true);
  module.walk([](Operation *op) {
    if (!isa<arith::ExtFOp, arith::TruncFOp>(op) ||
        op->getOperand(0).getType() != op->getResult(0).getType())
      return;
    op->getResult(0).replaceAllUsesWith(op->getOperand(0));
    op->erase();
  });
  return success();
}

namespace {
struct ImportRetype : veeline::impl::PipeImportRetypeBase<ImportRetype> {
  using PipeImportRetypeBase::PipeImportRetypeBase;

  void runOnOperation() override {
    if (type.empty())
      return;
    if (type == "f64") {
      if (failed(retype(getOperation())))
        signalPassFailure();
      return;
    }
    getOperation().emitError("--retype: unknown type '")
        << type << "'; expected f64";
    signalPassFailure();
  }
};
} // namespace
