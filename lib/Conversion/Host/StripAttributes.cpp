//===- StripAttributes.cpp - removing attributes of pipe from functions ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Passes.h"

namespace veeline {
#define GEN_PASS_DEF_PIPESTRIPATTRIBUTES
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;

static DictionaryAttr strip(DictionaryAttr attributes) {
  SmallVector<NamedAttribute> kept;
  for (NamedAttribute attribute : attributes)
    if (!attribute.getName().getValue().starts_with("pipe."))
      kept.push_back(attribute);
  return DictionaryAttr::get(attributes.getContext(), kept);
}

namespace {

struct StripAttributes
    : veeline::impl::PipeStripAttributesBase<StripAttributes> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    function->setDiscardableAttrs(
        strip(function->getDiscardableAttrDictionary()));
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (DictionaryAttr attributes = function.getArgAttrDict(i))
        function.setArgAttrs(i, strip(attributes));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (DictionaryAttr attributes = function.getResultAttrDict(i))
        function.setResultAttrs(i, strip(attributes));
  }
};

} // namespace
