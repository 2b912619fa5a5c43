//===- AttentionDesc.cpp - an attention in the runtime's tables -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/AttentionDesc.h"

#include "TableEntry.h"

using namespace mlir;
using namespace veeline;

/// Calls `visit` with the members that an entry of this kind has.
template <typename Desc, typename Visitor>
static void visitMembers(Desc &desc, Visitor &&visit) {
  visit("dtype", desc.dtype);
  visit("batch", desc.batch);
  visit("heads", desc.heads);
  visit("key_heads", desc.keyHeads);
  visit("queries", desc.queries);
  visit("keys", desc.keys);
  visit("depth", desc.depth);
  visit("value_depth", desc.valueDepth);
  visit("scale", desc.scale);
  visit("causal", desc.causal);
  visit("deterministic", desc.deterministic);
  visit("query_strides", desc.queryStrides, 3);
  visit("key_strides", desc.keyStrides, 3);
  visit("value_strides", desc.valueStrides, 3);
  visit("output_strides", desc.outputStrides, 3);
  if (desc.isBackward) {
    visit("output_grad_strides", desc.outputGradStrides, 3);
    visit("query_grad_strides", desc.queryGradStrides, 3);
    visit("key_grad_strides", desc.keyGradStrides, 3);
    visit("value_grad_strides", desc.valueGradStrides, 3);
  }
  visit("scratch_bytes", desc.scratchBytes);
}

template <typename Desc, typename Visitor>
static void visitMask(Desc &desc, Visitor &&visit) {
  visit("mask_dtype", desc.maskType);
  visit("mask_strides", desc.maskStrides, 3);
}

DictionaryAttr AttentionDesc::toAttribute(MLIRContext *context) const {
  EntryWriter writer(context);
  writer("kind", isBackward ? StringRef("backward") : StringRef("forward"));
  visitMembers(*this, writer);
  if (maskType)
    visitMask(*this, writer);
  return writer.finish();
}

FailureOr<AttentionDesc> AttentionDesc::fromAttribute(DictionaryAttr dict) {
  AttentionDesc desc;
  auto kind = dict.getAs<StringAttr>("kind");
  if (!kind || (kind.getValue() != "forward" && kind.getValue() != "backward"))
    return failure();
  desc.isBackward = kind.getValue() == "backward";
  EntryReader reader(dict);
  visitMembers(desc, reader);
  if (dict.contains("mask_dtype") || dict.contains("mask_strides"))
    visitMask(desc, reader);
  if (!reader.isComplete())
    return failure();
  return desc;
}
