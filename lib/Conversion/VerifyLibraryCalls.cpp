//===- VerifyLibraryCalls.cpp - --pipe-verify-library-calls ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEVERIFYLIBRARYCALLS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

namespace {
/// What a library is asked for, and the first call that asks.
using Calls = llvm::MapVector<DictionaryAttr, func::CallOp>;

/// Compares the calls of the functions of each chunk.
class Verifier {
public:
  explicit Verifier(ModuleOp module)
      : module(module), symbols(module),
        gemms(module->getAttrOfType<ArrayAttr>(gemmsAttrName)),
        convolutions(module->getAttrOfType<ArrayAttr>(convolutionsAttrName)) {}

  LogicalResult verify(pipe::ChunkOp chunk);

private:
  Calls collect(std::optional<StringRef> function);
  DictionaryAttr getIdentity(func::CallOp call) const;
  LogicalResult verifyKnown(pipe::ChunkOp chunk, StringRef part,
                            const Calls &calls, ArrayRef<const Calls *> known);

  ModuleOp module;
  SymbolTable symbols;
  ArrayAttr gemms, convolutions;
};
} // namespace

/// All of the entry that the library may choose an implementation by; null
/// where `call` is no call of it.
DictionaryAttr Verifier::getIdentity(func::CallOp call) const {
  ArrayAttr table = call.getCallee() == "veeline_gemm"          ? gemms
                    : call.getCallee() == "veeline_convolution" ? convolutions
                                                                : ArrayAttr();
  APInt index;
  if (!table || call.getNumOperands() < 2 ||
      !matchPattern(call.getOperand(1), m_ConstantInt(&index)) ||
      index.getZExtValue() >= table.size())
    return {};
  NamedAttrList entry(cast<DictionaryAttr>(table[index.getZExtValue()]));
  entry.erase("scratch_bytes");
  return entry.getDictionary(call.getContext());
}

Calls Verifier::collect(std::optional<StringRef> function) {
  Calls calls;
  if (auto func = function ? symbols.lookup<func::FuncOp>(*function) : nullptr)
    func.walk([&](func::CallOp call) {
      if (DictionaryAttr identity = getIdentity(call))
        calls.insert({identity, call});
    });
  return calls;
}

/// The sizes of a call without what says where its operands stand.
static DictionaryAttr getProblem(DictionaryAttr identity) {
  NamedAttrList problem(identity);
  for (StringRef name : {"a_strides", "b_strides", "c_strides", "x_strides",
                         "w_strides", "y_strides", "alignment", "batch"})
    problem.erase(name);
  return problem.getDictionary(identity.getContext());
}

LogicalResult Verifier::verifyKnown(pipe::ChunkOp chunk, StringRef part,
                                    const Calls &calls,
                                    ArrayRef<const Calls *> known) {
  for (auto [identity, call] : calls) {
    if (llvm::any_of(known, [&, identity = identity](const Calls *others) {
          return others->contains(identity);
        }))
      continue;
    InFlightDiagnostic diag =
        call->emitError() << "the " << part << " of chunk " << chunk.getIndex()
                          << " asks the library for " << identity
                          << ", which its other functions do not; equal "
                             "computations have to be equal calls, or "
                             "their bits depend on the schedule";
    for (const Calls *others : known)
      for (auto [other, place] : *others)
        if (getProblem(other) == getProblem(identity))
          diag.attachNote(place.getLoc()) << "there it is " << other;
    return diag;
  }
  return success();
}

/// What B and W compute is what the fused backward computes, and what is
/// computed again is what forward computes.
LogicalResult Verifier::verify(pipe::ChunkOp chunk) {
  Calls forward = collect(chunk.getForward());
  Calls backward = collect(chunk.getBackward());
  Calls ofInputs = collect(chunk.getBackwardInput());
  Calls ofWeights = collect(chunk.getBackwardWeight());
  bool isFused = chunk.getBackward() && symbols.lookup(*chunk.getBackward());
  bool isSplit =
      (chunk.getBackwardInput() && symbols.lookup(*chunk.getBackwardInput())) ||
      (chunk.getBackwardWeight() && symbols.lookup(*chunk.getBackwardWeight()));
  if (!isFused || !isSplit)
    return success();
  return failure(failed(verifyKnown(chunk, "backward-input", ofInputs,
                                    {&backward, &forward})) ||
                 failed(verifyKnown(chunk, "backward-weight", ofWeights,
                                    {&backward, &forward})) ||
                 failed(verifyKnown(chunk, "fused backward", backward,
                                    {&ofInputs, &ofWeights, &forward})));
}

namespace {
struct VerifyLibraryCalls
    : veeline::impl::PipeVerifyLibraryCallsBase<VerifyLibraryCalls> {
  using Base::Base;

  void runOnOperation() override {
    Verifier verifier(getOperation());
    getOperation().walk([&](pipe::ChunkOp chunk) {
      if (failed(verifier.verify(chunk)))
        signalPassFailure();
    });
    markAllAnalysesPreserved();
  }
};
} // namespace
