//===- Gemm.cpp - a matrix product in the runtime's tables ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Gemm.h"

#include "TableEntry.h"

using namespace mlir;
using namespace veeline;

static constexpr StringLiteral epilogueNames[] = {"none", "bias", "gelu_aux",
                                                  "bias_gelu_aux", "dgelu"};

/// Calls `visit` with the members that every entry has.
template <typename Desc, typename Visitor>
static void visitMembers(Desc &desc, Visitor &&visit) {
  visit("dtype", desc.dtype);
  visit("batch", desc.batch);
  visit("m", desc.m);
  visit("n", desc.n);
  visit("k", desc.k);
  size_t rank = desc.batch.size() + 2;
  visit("a_strides", desc.aStrides, rank);
  visit("b_strides", desc.bStrides, rank);
  visit("c_strides", desc.cStrides, rank);
  visit("scratch_bytes", desc.scratchBytes);
}

DictionaryAttr GemmDesc::toAttribute(MLIRContext *context) const {
  EntryWriter writer(context);
  visitMembers(*this, writer);
  if (cType != dtype)
    writer("c_dtype", cType);
  writer.addUnit("tf32", isTf32);
  writer.addUnit("accumulate", accumulate);
  if (epilogue != GemmEpilogue::None)
    writer("epilogue", epilogueNames[static_cast<size_t>(epilogue)]);
  if (alignment)
    writer("alignment", *alignment);
  return writer.finish();
}

FailureOr<GemmDesc> GemmDesc::fromAttribute(DictionaryAttr dict) {
  GemmDesc desc;
  EntryReader reader(dict);
  visitMembers(desc, reader);
  desc.cType = desc.dtype;
  if (dict.contains("c_dtype"))
    reader("c_dtype", desc.cType);
  desc.isTf32 = dict.contains("tf32");
  desc.accumulate = dict.contains("accumulate");
  if (dict.contains("epilogue")) {
    std::string name;
    reader("epilogue", name);
    const auto *it = llvm::find(epilogueNames, name);
    if (it == std::end(epilogueNames))
      return failure();
    desc.epilogue = static_cast<GemmEpilogue>(it - std::begin(epilogueNames));
  }
  if (dict.contains("alignment"))
    reader("alignment", desc.alignment.emplace());
  if (!reader.isComplete())
    return failure();
  return desc;
}
