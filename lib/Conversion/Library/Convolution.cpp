//===- Convolution.cpp - a convolution in the runtime's tables ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Convolution.h"

#include "TableEntry.h"

using namespace mlir;
using namespace veeline;

/// Calls `visit` with every member except the kind and the types.
template <typename Desc, typename Visitor>
static void visitMembers(Desc &desc, Visitor &&visit) {
  visit("batch", desc.batch);
  visit("groups", desc.groups);
  visit("inputs", desc.inputs);
  visit("outputs", desc.outputs);
  visit("x_sizes", desc.xSizes);
  size_t rank = desc.xSizes.size();
  visit("y_sizes", desc.ySizes, rank);
  visit("w_sizes", desc.wSizes, rank);
  visit("strides", desc.strides, rank);
  visit("dilations", desc.dilations, rank);
  visit("padding", desc.padding, rank);
  visit("x_strides", desc.xStrides, rank + 3);
  visit("w_strides", desc.wStrides, rank + 3);
  visit("y_strides", desc.yStrides, rank + 3);
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

DictionaryAttr ConvolutionDesc::toAttribute(MLIRContext *context) const {
  EntryWriter writer(context);
  writer("kind", getName(kind));
  visitMembers(*this, writer);
  if (!dtype.isF32())
    writer("dtype", dtype);
  writer.addUnit("tf32", isTf32);
  return writer.finish();
}

FailureOr<ConvolutionDesc> ConvolutionDesc::fromAttribute(DictionaryAttr dict) {
  ConvolutionDesc desc;
  EntryReader reader(dict);
  visitMembers(desc, reader);
  auto dtype = dict.getAs<TypeAttr>("dtype");
  desc.dtype = dtype ? dtype.getValue() : Float32Type::get(dict.getContext());
  desc.isTf32 = dict.contains("tf32");
  auto name = dict.getAs<StringAttr>("kind");
  if (!reader.isComplete() || !name)
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
