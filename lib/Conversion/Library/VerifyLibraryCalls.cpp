//===- VerifyLibraryCalls.cpp - --pipe-verify-library-calls ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Analysis/CostModel.h"
#include "veeline/Conversion/AttentionDesc.h"
#include "veeline/Conversion/Convolution.h"
#include "veeline/Conversion/Gemm.h"
#include "veeline/Conversion/Passes.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/IR/Pipe.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/MapVector.h"

namespace veeline {
#define GEN_PASS_DEF_PIPEVERIFYLIBRARYCALLS
#include "veeline/Conversion/Passes.h.inc"
} // namespace veeline

using namespace mlir;
using namespace veeline;

namespace {
/// The entries that calls have, each with the first such call.
using Calls = llvm::MapVector<DictionaryAttr, func::CallOp>;

/// One function of a chunk.
struct Part {
  StringRef name;
  bool isThere = false;
  Calls calls;
  /// By number of the computation: its calls, and those products and
  /// convolutions that are loops of ours.
  llvm::MapVector<int64_t, Calls> computations;
  llvm::MapVector<int64_t, linalg::LinalgOp> loops;
};

/// Compares the calls of the functions of each chunk.
class Verifier {
public:
  explicit Verifier(ModuleOp module)
      : module(module), symbols(module),
        gemms(module->getAttrOfType<ArrayAttr>(gemmsAttrName)),
        convolutions(module->getAttrOfType<ArrayAttr>(convolutionsAttrName)),
        attentions(module->getAttrOfType<ArrayAttr>(attentionsAttrName)) {}

  LogicalResult verify(pipe::ChunkOp chunk);

private:
  FailureOr<Part> collect(StringRef name, std::optional<StringRef> function);
  LogicalResult addCall(func::CallOp call, Part &part) const;
  std::optional<ArrayAttr> getTable(func::CallOp call) const;
  FailureOr<DictionaryAttr> getIdentity(func::CallOp call,
                                        ArrayAttr table) const;

  ModuleOp module;
  SymbolTable symbols;
  ArrayAttr gemms, convolutions, attentions;
};
} // namespace

/// The table that `call` refers to; null if the module does not have it. None
/// if `call` does not call the library.
std::optional<ArrayAttr> Verifier::getTable(func::CallOp call) const {
  // The prefix includes calls with an epilogue.
  StringRef callee = call.getCallee();
  if (callee.starts_with("veeline_gemm"))
    return gemms;
  if (callee == "veeline_convolution")
    return convolutions;
  if (callee.starts_with("veeline_attention"))
    return attentions;
  return std::nullopt;
}

/// The part of the entry that may determine which implementation the library
/// chooses.
FailureOr<DictionaryAttr> Verifier::getIdentity(func::CallOp call,
                                                ArrayAttr table) const {
  APInt index;
  if (!table || call.getNumOperands() < 2 ||
      !matchPattern(call.getOperand(1), m_ConstantInt(&index)) ||
      index.getZExtValue() >= table.size())
    return call->emitError("calls the library with an entry that is not in the "
                           "module's table; its number has to be a constant");
  NamedAttrList entry(cast<DictionaryAttr>(table[index.getZExtValue()]));
  entry.erase("scratch_bytes");
  return entry.getDictionary(call.getContext());
}

LogicalResult Verifier::addCall(func::CallOp call, Part &part) const {
  std::optional<ArrayAttr> table = getTable(call);
  if (!table)
    return success();
  FailureOr<DictionaryAttr> identity = getIdentity(call, *table);
  if (failed(identity))
    return failure();
  part.calls.insert({*identity, call});
  if (auto number = pipe::getComputation(call.getLoc()))
    part.computations[*number].insert({*identity, call});
  return success();
}

FailureOr<Part> Verifier::collect(StringRef name,
                                  std::optional<StringRef> function) {
  Part part{name, false, {}, {}, {}};
  auto func = function ? symbols.lookup<func::FuncOp>(*function) : nullptr;
  part.isThere = !!func;
  if (!func)
    return part;
  WalkResult result = func.walk([&](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op))
      return WalkResult(addCall(call, part));
    auto loop = dyn_cast<linalg::LinalgOp>(op);
    if (loop && isContraction(loop))
      if (auto number = pipe::getComputation(op->getLoc()))
        part.loops.insert({*number, loop});
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return part;
}

static DictionaryAttr without(DictionaryAttr identity,
                              ArrayRef<StringRef> names) {
  NamedAttrList rest(identity);
  for (StringRef name : names)
    rest.erase(name);
  return rest.getDictionary(identity.getContext());
}

/// The sizes of a call, without its batch, the layout of its operands, and its
/// epilogue.
static DictionaryAttr getProblem(DictionaryAttr identity) {
  return without(identity, {"a_strides", "b_strides", "c_strides", "x_strides",
                            "w_strides", "y_strides", "alignment", "batch",
                            "accumulate", "epilogue", "c_dtype"});
}

/// The product or attention without its uses. On a GPU, the epilogue of a
/// product, and the layout of attention's operands, depend on what surrounds
/// them. docs/cuda.md says how bits may then depend on what is kept.
static DictionaryAttr withoutUse(DictionaryAttr identity) {
  return without(identity, {"accumulate", "epilogue", "c_dtype", "alignment",
                            "query_strides", "key_strides", "value_strides",
                            "output_strides", "mask_strides"});
}

static bool dependsOnUse(DictionaryAttr identity) {
  return identity.contains("epilogue") || identity.contains("accumulate") ||
         identity.contains("query_strides");
}

/// Whether a call of the forward and one that recomputes it are equal.
static bool isAgain(DictionaryAttr a, DictionaryAttr b) {
  if (!dependsOnUse(a) && !dependsOnUse(b))
    return a == b;
  return withoutUse(a) == withoutUse(b);
}

static InFlightDiagnostic refuse(pipe::ChunkOp chunk, const Part &part,
                                 DictionaryAttr identity, func::CallOp call) {
  return call->emitError() << "the " << part.name << " of chunk "
                           << chunk.getIndex() << " asks the library for "
                           << identity;
}

constexpr StringLiteral rule =
    "equal computations have to be equal calls, or their bits depend on the "
    "schedule";

/// Fails if `part` has a call that none of `known` has.
static LogicalResult verifyKnown(pipe::ChunkOp chunk, const Part &part,
                                 ArrayRef<const Part *> known) {
  for (auto [identity, call] : part.calls) {
    if (llvm::any_of(known, [&, identity = identity](const Part *other) {
          return other->calls.contains(identity);
        }))
      continue;
    InFlightDiagnostic diag = refuse(chunk, part, identity, call);
    diag << ", which its other functions do not; " << rule;
    for (const Part *other : known)
      for (auto [there, place] : other->calls)
        if (getProblem(there) == getProblem(identity))
          diag.attachNote(place.getLoc()) << "there it is " << there;
    return diag;
  }
  return success();
}

/// Fails if a loop of `part` is a call in `other`.
static LogicalResult verifyLoops(pipe::ChunkOp chunk, const Part &part,
                                 const Part &other) {
  for (auto [number, loop] : part.loops) {
    const auto *found = other.computations.find(number);
    if (found == other.computations.end() || other.loops.contains(number))
      continue;
    InFlightDiagnostic diag = linalg::LinalgOp(loop)->emitError()
                              << "the " << part.name << " of chunk "
                              << chunk.getIndex()
                              << " computes in loops what its " << other.name
                              << " asks the library for; " << rule;
    auto [there, place] = found->second.front();
    diag.attachNote(place.getLoc()) << "there it is " << there;
    return diag;
  }
  return success();
}

/// Fails if both parts compute something by different calls.
static LogicalResult
verifySame(pipe::ChunkOp chunk, const Part &part, const Part &other,
           function_ref<bool(DictionaryAttr, DictionaryAttr)> isSame) {
  if (failed(verifyLoops(chunk, part, other)) ||
      failed(verifyLoops(chunk, other, part)))
    return failure();
  for (const auto &[number, calls] : part.computations) {
    const auto *found = other.computations.find(number);
    if (found == other.computations.end())
      continue;
    for (auto [identity, call] : calls) {
      if (llvm::any_of(found->second, [&, identity = identity](auto &there) {
            return isSame(identity, there.first);
          }))
        continue;
      InFlightDiagnostic diag = refuse(chunk, part, identity, call);
      diag << ", and its " << other.name << " for something else; " << rule;
      for (auto [there, place] : found->second)
        diag.attachNote(place.getLoc()) << "there it is " << there;
      return diag;
    }
  }
  return success();
}

/// B and W must compute what the fused backward computes, and recomputation
/// what the forward computes.
LogicalResult Verifier::verify(pipe::ChunkOp chunk) {
  FailureOr<Part> forward = collect("forward", chunk.getForward());
  FailureOr<Part> fused = collect("fused backward", chunk.getBackward());
  FailureOr<Part> inputs = collect("backward-input", chunk.getBackwardInput());
  FailureOr<Part> weights =
      collect("backward-weight", chunk.getBackwardWeight());
  FailureOr<Part> again = collect("recomputation", chunk.getRecomputation());
  if (failed(forward) || failed(fused) || failed(inputs) || failed(weights) ||
      failed(again))
    return failure();
  for (const Part *part : {&*fused, &*inputs, &*weights, &*again})
    if (failed(verifySame(chunk, *part, *forward, isAgain)))
      return failure();
  auto isEqual = [](DictionaryAttr a, DictionaryAttr b) { return a == b; };
  for (auto [part, other] :
       {std::pair(&*inputs, &*fused), std::pair(&*weights, &*fused),
        std::pair(&*weights, &*inputs)})
    if (failed(verifySame(chunk, *part, *other, isEqual)))
      return failure();
  if (!fused->isThere || (!inputs->isThere && !weights->isThere))
    return success();
  return failure(
      failed(verifyKnown(chunk, *inputs, {&*fused, &*forward})) ||
      failed(verifyKnown(chunk, *weights, {&*fused, &*forward})) ||
      failed(verifyKnown(chunk, *fused, {&*inputs, &*weights, &*forward})));
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
