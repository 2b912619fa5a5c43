//===- AttentionDesc.cpp - attention that the runtime computes ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/AttentionDesc.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace veeline;

/// Calls `visit` with the members that an entry of this kind has, and their
/// names in the attribute.
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
  visit("query_strides", desc.queryStrides);
  visit("key_strides", desc.keyStrides);
  visit("value_strides", desc.valueStrides);
  visit("output_strides", desc.outputStrides);
  if (desc.isBackward) {
    visit("output_grad_strides", desc.outputGradStrides);
    visit("query_grad_strides", desc.queryGradStrides);
    visit("key_grad_strides", desc.keyGradStrides);
    visit("value_grad_strides", desc.valueGradStrides);
  }
  visit("scratch_bytes", desc.scratchBytes);
}

template <typename Desc, typename Visitor>
static void visitMask(Desc &desc, Visitor &&visit) {
  visit("mask_dtype", desc.maskType);
  visit("mask_strides", desc.maskStrides);
}

namespace {
struct Writer {
  Builder builder;
  SmallVector<NamedAttribute> entries;

  void add(StringRef name, Attribute attr) {
    entries.push_back(builder.getNamedAttr(name, attr));
  }
  void operator()(StringRef name, Type type) { add(name, TypeAttr::get(type)); }
  void operator()(StringRef name, int64_t value) {
    add(name, builder.getI64IntegerAttr(value));
  }
  void operator()(StringRef name, uint64_t value) {
    add(name, builder.getI64IntegerAttr(static_cast<int64_t>(value)));
  }
  void operator()(StringRef name, double value) {
    add(name, builder.getF64FloatAttr(value));
  }
  void operator()(StringRef name, bool value) {
    add(name, builder.getBoolAttr(value));
  }
  void operator()(StringRef name, ArrayRef<int64_t> list) {
    add(name, builder.getDenseI64ArrayAttr(list));
  }
};

struct Reader {
  DictionaryAttr dict;
  bool isComplete = true;

  template <typename Attr> Attr get(StringRef name) {
    auto attr = dict.getAs<Attr>(name);
    isComplete &= static_cast<bool>(attr);
    return attr;
  }
  void operator()(StringRef name, Type &type) {
    if (auto attr = get<TypeAttr>(name))
      type = attr.getValue();
  }
  void operator()(StringRef name, int64_t &value) {
    if (auto attr = get<IntegerAttr>(name))
      value = attr.getInt();
  }
  void operator()(StringRef name, uint64_t &value) {
    if (auto attr = get<IntegerAttr>(name))
      value = static_cast<uint64_t>(attr.getInt());
  }
  void operator()(StringRef name, double &value) {
    if (auto attr = get<FloatAttr>(name))
      value = attr.getValueAsDouble();
  }
  void operator()(StringRef name, bool &value) {
    if (auto attr = get<BoolAttr>(name))
      value = attr.getValue();
  }
  void operator()(StringRef name, SmallVector<int64_t> &list) {
    auto attr = get<DenseI64ArrayAttr>(name);
    isComplete &= attr && attr.size() == 3;
    if (attr)
      list = llvm::to_vector(attr.asArrayRef());
  }
};
} // namespace

DictionaryAttr AttentionDesc::toAttribute(MLIRContext *context) const {
  Writer writer{Builder(context), {}};
  writer.add("kind",
             writer.builder.getStringAttr(isBackward ? "backward" : "forward"));
  visitMembers(*this, writer);
  if (maskType)
    visitMask(*this, writer);
  return writer.builder.getDictionaryAttr(writer.entries);
}

FailureOr<AttentionDesc> AttentionDesc::fromAttribute(DictionaryAttr dict) {
  AttentionDesc desc;
  auto kind = dict.getAs<StringAttr>("kind");
  if (!kind || (kind.getValue() != "forward" && kind.getValue() != "backward"))
    return failure();
  desc.isBackward = kind.getValue() == "backward";
  Reader reader{dict};
  visitMembers(desc, reader);
  if (dict.contains("mask_dtype") || dict.contains("mask_strides"))
    visitMask(desc, reader);
  if (!reader.isComplete)
    return failure();
  return desc;
}
