//===- Gemm.cpp - matrix products that the runtime computes ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Gemm.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace veeline;

static constexpr StringLiteral epilogueNames[] = {"none", "bias", "gelu_aux",
                                                  "bias_gelu_aux", "dgelu"};

DictionaryAttr GemmDesc::toAttribute(MLIRContext *context) const {
  Builder builder(context);
  auto number = [&](uint64_t value) {
    return builder.getI64IntegerAttr(static_cast<int64_t>(value));
  };
  SmallVector<NamedAttribute> entries = {
      builder.getNamedAttr("dtype", TypeAttr::get(dtype)),
      builder.getNamedAttr("batch", builder.getDenseI64ArrayAttr(batch)),
      builder.getNamedAttr("m", number(m)),
      builder.getNamedAttr("n", number(n)),
      builder.getNamedAttr("k", number(k)),
      builder.getNamedAttr("a_strides", builder.getDenseI64ArrayAttr(aStrides)),
      builder.getNamedAttr("b_strides", builder.getDenseI64ArrayAttr(bStrides)),
      builder.getNamedAttr("c_strides", builder.getDenseI64ArrayAttr(cStrides)),
      builder.getNamedAttr("scratch_bytes", number(scratchBytes))};
  if (cType != dtype)
    entries.push_back(builder.getNamedAttr("c_dtype", TypeAttr::get(cType)));
  if (isTf32)
    entries.push_back(builder.getNamedAttr("tf32", builder.getUnitAttr()));
  if (accumulate)
    entries.push_back(
        builder.getNamedAttr("accumulate", builder.getUnitAttr()));
  if (epilogue != GemmEpilogue::None)
    entries.push_back(builder.getNamedAttr(
        "epilogue",
        builder.getStringAttr(epilogueNames[static_cast<size_t>(epilogue)])));
  if (alignment)
    entries.push_back(builder.getNamedAttr("alignment", number(*alignment)));
  return builder.getDictionaryAttr(entries);
}

FailureOr<GemmDesc> GemmDesc::fromAttribute(DictionaryAttr dict) {
  GemmDesc desc;
  bool complete = true;
  auto readNumber = [&](StringRef name) -> int64_t {
    auto attr = dict.getAs<IntegerAttr>(name);
    complete &= static_cast<bool>(attr);
    return attr ? attr.getInt() : 0;
  };
  auto readList = [&](StringRef name, size_t extra) {
    auto attr = dict.getAs<DenseI64ArrayAttr>(name);
    complete &= attr && (name == "batch" ||
                         attr.size() ==
                             static_cast<int64_t>(desc.batch.size() + extra));
    return attr ? llvm::to_vector(attr.asArrayRef()) : SmallVector<int64_t>();
  };
  auto dtype = dict.getAs<TypeAttr>("dtype");
  complete &= static_cast<bool>(dtype);
  desc.dtype = dtype ? dtype.getValue() : Type();
  auto cType = dict.getAs<TypeAttr>("c_dtype");
  desc.cType = cType ? cType.getValue() : desc.dtype;
  desc.isTf32 = dict.contains("tf32");
  desc.accumulate = dict.contains("accumulate");
  if (auto name = dict.getAs<StringAttr>("epilogue")) {
    const auto *it = llvm::find(epilogueNames, name.getValue());
    if (it == std::end(epilogueNames))
      return failure();
    desc.epilogue = static_cast<GemmEpilogue>(it - std::begin(epilogueNames));
  }
  desc.batch = readList("batch", 0);
  desc.m = readNumber("m");
  desc.n = readNumber("n");
  desc.k = readNumber("k");
  desc.aStrides = readList("a_strides", 2);
  desc.bStrides = readList("b_strides", 2);
  desc.cStrides = readList("c_strides", 2);
  desc.scratchBytes = static_cast<uint64_t>(readNumber("scratch_bytes"));
  if (dict.contains("alignment"))
    desc.alignment = readNumber("alignment");
  if (!complete)
    return failure();
  return desc;
}
