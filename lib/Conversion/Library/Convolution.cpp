//===- Convolution.cpp - convolutions that the runtime computes -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Convolution.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace veeline;

/// Calls `visit` with every member but the kind and the types, and its name in
/// the attribute. A list comes with the number of elements that it has beside
/// one for each spatial dimension.
template <typename Desc, typename Visitor>
static void visitMembers(Desc &desc, Visitor &&visit) {
  visit("batch", desc.batch);
  visit("groups", desc.groups);
  visit("inputs", desc.inputs);
  visit("outputs", desc.outputs);
  visit("x_sizes", desc.xSizes, 0);
  visit("y_sizes", desc.ySizes, 0);
  visit("w_sizes", desc.wSizes, 0);
  visit("strides", desc.strides, 0);
  visit("dilations", desc.dilations, 0);
  visit("padding", desc.padding, 0);
  visit("x_strides", desc.xStrides, 3);
  visit("w_strides", desc.wStrides, 3);
  visit("y_strides", desc.yStrides, 3);
  visit("scratch_bytes", desc.scratchBytes);
}

static StringRef getName(ConvolutionKind kind) {
  switch (kind) {
  case ConvolutionKind::Forward:
    return "forward";
  case ConvolutionKind::BackwardData:
    return "backward_data";
  case ConvolutionKind::BackwardWeights:
    return "backward_weights";
  }
  llvm_unreachable("a kind that has no name");
}

namespace {
struct Writer {
  Builder builder;
  SmallVector<NamedAttribute> entries;

  void operator()(StringRef name, int64_t value) {
    entries.push_back(
        builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  }
  void operator()(StringRef name, ArrayRef<int64_t> list, size_t) {
    entries.push_back(
        builder.getNamedAttr(name, builder.getDenseI64ArrayAttr(list)));
  }
};

struct Reader {
  DictionaryAttr dict;
  std::optional<size_t> rank;
  bool isComplete = true;

  template <typename T> void operator()(StringRef name, T &value) {
    auto attr = dict.getAs<IntegerAttr>(name);
    isComplete &= static_cast<bool>(attr);
    value = attr ? attr.getInt() : 0;
  }
  void operator()(StringRef name, SmallVector<int64_t> &list, size_t others) {
    auto attr = dict.getAs<DenseI64ArrayAttr>(name);
    size_t size = attr ? attr.size() : 0;
    if (!rank)
      rank = size;
    isComplete &= attr && size == *rank + others;
    list = attr ? llvm::to_vector(attr.asArrayRef()) : SmallVector<int64_t>();
  }
};
} // namespace

DictionaryAttr ConvolutionDesc::toAttribute(MLIRContext *context) const {
  Writer writer{Builder(context), {}};
  writer.entries.push_back(writer.builder.getNamedAttr(
      "kind", writer.builder.getStringAttr(getName(kind))));
  visitMembers(*this, writer);
  if (!dtype.isF32())
    writer.entries.push_back(
        writer.builder.getNamedAttr("dtype", TypeAttr::get(dtype)));
  if (isTf32)
    writer.entries.push_back(
        writer.builder.getNamedAttr("tf32", writer.builder.getUnitAttr()));
  return writer.builder.getDictionaryAttr(writer.entries);
}

FailureOr<ConvolutionDesc> ConvolutionDesc::fromAttribute(DictionaryAttr dict) {
  ConvolutionDesc desc;
  Reader reader{dict, std::nullopt};
  visitMembers(desc, reader);
  auto dtype = dict.getAs<TypeAttr>("dtype");
  desc.dtype = dtype ? dtype.getValue() : Float32Type::get(dict.getContext());
  desc.isTf32 = dict.contains("tf32");
  auto name = dict.getAs<StringAttr>("kind");
  if (!reader.isComplete || !name)
    return failure();
  for (ConvolutionKind kind :
       {ConvolutionKind::Forward, ConvolutionKind::BackwardData,
        ConvolutionKind::BackwardWeights})
    if (name.getValue() == getName(kind)) {
      desc.kind = kind;
      return desc;
    }
  return failure();
}
