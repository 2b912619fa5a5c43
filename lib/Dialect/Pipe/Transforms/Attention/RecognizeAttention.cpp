//===- RecognizeAttention.cpp - --pipe-recognize-attention ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EmitMask.h"
#include "MatchAttention.h"
#include "Reshape.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"
#include "veeline/Dialect/Pipe/Transforms/Joint.h"
#include "veeline/Dialect/Pipe/Transforms/Passes.h"

namespace veeline::pipe {
#define GEN_PASS_DEF_PIPERECOGNIZEATTENTION
#include "veeline/Dialect/Pipe/Transforms/Passes.h.inc"
} // namespace veeline::pipe

using namespace mlir;
using namespace veeline::pipe;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

static Type getElementType(Value tensor) {
  return cast<RankedTensorType>(tensor.getType()).getElementType();
}

/// Returns why `match` cannot be a `pipe.attention`, or none if it can.
static std::optional<std::string> findObstacle(const AttentionMatch &match) {
  Type type = getElementType(match.value.front().first);
  for (const Places *places : {&match.query, &match.key})
    if (getElementType(places->front().first) != type)
      return std::string(
          "queries, keys and values are of different element types");
  if (!type.isF16() && !type.isBF16() && !type.isF32() && !type.isF64())
    return std::string("its elements are neither f16, bf16, f32 nor f64");
  if (!std::isfinite(match.scale))
    return std::string("the scale is not finite");
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

namespace {

/// Replaces what was matched by a `pipe.attention`.
class AttentionRewriter {
public:
  AttentionRewriter(OpBuilder &builder, AttentionMatch &match)
      : builder(builder), match(match), tracer(*match.tracer),
        loc(match.context.getLoc()) {}

  LogicalResult run();

private:
  void chooseBatch();
  Access getAccess(bool grouped, const Index &rows, const Index &columns) const;
  Value read(const Places &places, const Access &access);
  bool isGrouped() const { return !shared.empty(); }

  OpBuilder &builder;
  AttentionMatch &match;
  const ExpressionTracer &tracer;
  Location loc;
  /// The batch dimensions of the queries. Those of keys and values lack the
  /// last digits, `shared`.
  Access batch;
  Index shared;
};

} // namespace

/// The last digits of the batch that neither keys nor values have: those of
/// queries that share keys.
static Index findShared(const AttentionMatch &match) {
  uint64_t used =
      getDigits(match.key.back().second) | getDigits(match.value.back().second);
  Index shared, batch = match.batch;
  while (!batch.empty() && !(used >> batch.back() & 1))
    shared.insert(shared.begin(), batch.pop_back_val());
  return shared;
}

void AttentionRewriter::chooseBatch() {
  shared = findShared(match);
  batch = separate(match.batch);
  if (!isGrouped())
    return;
  // Queries that share keys are adjacent in the last dimension.
  Index last;
  for (size_t i = 0; i != shared.size(); ++i)
    last.insert(last.begin(), batch.pop_back_val().front());
  if (!batch.empty())
    last.insert(last.begin(), batch.pop_back_val().front());
  batch.push_back(last);
}

/// The dimensions of the batch and those of `rows` and `columns`. With
/// `grouped`, shared digits are left out.
Access AttentionRewriter::getAccess(bool grouped, const Index &rows,
                                    const Index &columns) const {
  Access access = batch;
  if (grouped && isGrouped())
    access.back().truncate(access.back().size() - shared.size());
  access.push_back(rows);
  access.push_back(columns);
  return access;
}

/// A tensor of `places` that has exactly the elements of `access`, reshaped to
/// the dimensions of `access`. Null if there is none.
Value AttentionRewriter::read(const Places &places, const Access &access) {
  uint64_t digits = getDigits(access);
  const std::pair<Value, Access> *best = nullptr;
  for (const auto &place : places) {
    if (getDigits(place.second) != digits)
      continue;
    // Prefer a tensor that needs only a reshape, or better, not even that.
    bool isInOrder = best && flatten(best->second) == flatten(access);
    if (!isInOrder || place.second == access)
      best = &place;
  }
  if (!best)
    return {};
  return reshape(builder, loc, tracer, best->first, best->second, access);
}

/// Converts `tensor` to elements of `type`.
static Value convert(OpBuilder &builder, Location loc, Value tensor,
                     Type type) {
  Type from = getElementType(tensor);
  if (from == type)
    return tensor;
  Type result = cast<RankedTensorType>(tensor.getType()).clone(type);
  if (from.getIntOrFloatBitWidth() < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, result, tensor);
  return arith::TruncFOp::create(builder, loc, result, tensor);
}

LogicalResult AttentionRewriter::run() {
  builder.setInsertionPoint(match.context);
  chooseBatch();
  Value query = read(match.query, getAccess(false, match.queries, match.depth));
  Value key = read(match.key, getAccess(true, match.keys, match.depth));
  Value value =
      read(match.value, getAccess(true, match.keys, match.valueDepth));
  if (!query || !key || !value)
    return failure();
  Access scores = getAccess(false, match.queries, match.keys);
  Value mask;
  SmallVector<int64_t> dims;
  DenseI64ArrayAttr dimsAttr;
  FloatAttr fill;
  const AttentionMatch::Masks &masks = match.masks;
  if (!masks.masks.empty()) {
    mask = emitMask(builder, loc, match, scores, dims);
    dimsAttr = builder.getDenseI64ArrayAttr(dims);
    if (!mask)
      return failure();
    if (masks.isBoolean &&
        masks.fill != -std::numeric_limits<double>::infinity())
      fill = builder.getF64FloatAttr(masks.fill);
  }
  Type element = getElementType(query);
  Access output = getAccess(false, match.queries, match.valueDepth);
  Access rows(ArrayRef<Index>(output).drop_back());
  Access like = getAccess(false, match.queries, match.depth);
  Type rowElement = element.isF64() ? element : builder.getF32Type();
  Value outputInit =
      createEmpty(builder, loc, tracer, output, element, query, like);
  Value rowInit =
      createEmpty(builder, loc, tracer, rows, rowElement, query, like);
  auto op = AttentionOp::create(
      builder, loc, TypeRange{outputInit.getType(), rowInit.getType()}, query,
      key, value, mask, outputInit, rowInit,
      builder.getF64FloatAttr(match.scale),
      masks.causal ? builder.getUnitAttr() : UnitAttr(), dimsAttr, fill);
  Value result = reshape(builder, loc, tracer, op->getResult(0), output,
                         match.contextAccess);
  Value old = match.context->getResult(0);
  old.replaceAllUsesWith(convert(builder, loc, result, getElementType(old)));
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static void removeDeadOps(func::FuncOp function) {
  for (Block &block : function.getBody())
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (isOpTriviallyDead(&op))
        op.erase();
}

namespace {

/// The products of weights and values in a function, each with its match.
class Candidates {
public:
  /// Matches all products of `function`.
  explicit Candidates(func::FuncOp function);
  /// Drops candidates whose scores or weights have other users.
  void keepPrivate();
  void replace();

private:
  struct Candidate {
    linalg::LinalgOp context, scores;
    SmallVector<Operation *> ops;
  };

  Operation *findOtherUser(const Candidate &candidate) const;
  static void explain(linalg::LinalgOp context, const Twine &reason) {
    context->emitRemark() << "this product of a softmax is not fused into "
                             "attention: "
                          << reason;
  }

  SmallVector<Candidate> candidates;
  /// The ops of all candidates. Several heads may share one softmax, with a
  /// product for each.
  DenseSet<Operation *> ops, contexts;
};

} // namespace

Candidates::Candidates(func::FuncOp function) {
  function.walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() == 0)
      return;
    AttentionCandidate found = matchAttention(op);
    std::optional<std::string> obstacle;
    if (found.match)
      obstacle = findObstacle(*found.match);
    if (obstacle || !found.reason.empty())
      return explain(op, obstacle ? *obstacle : found.reason);
    if (found.match)
      candidates.push_back({op, found.match->scores,
                            llvm::to_vector(found.match->tracer->getOps())});
  });
}

/// An op that uses scores or weights for something else, or null.
Operation *Candidates::findOtherUser(const Candidate &candidate) const {
  SmallVector<Operation *> next = {candidate.scores};
  DenseSet<Operation *> seen;
  while (!next.empty()) {
    Operation *op = next.pop_back_val();
    if (contexts.contains(op) || !seen.insert(op).second)
      continue;
    if (op != candidate.scores && !ops.contains(op)) {
      // Queries of extents do not count.
      if (isa<tensor::DimOp>(op))
        continue;
      return op;
    }
    llvm::append_range(next, op->getUsers());
  }
  return nullptr;
}

void Candidates::keepPrivate() {
  size_t before;
  do {
    before = candidates.size();
    ops.clear();
    contexts.clear();
    for (const Candidate &candidate : candidates) {
      ops.insert_range(candidate.ops);
      contexts.insert(candidate.context);
    }
    llvm::erase_if(candidates, [&](const Candidate &candidate) {
      Operation *other = findOtherUser(candidate);
      if (other)
        explain(candidate.context, "the scores or the weights are used by '" +
                                       other->getName().getStringRef() +
                                       "' as well");
      return other != nullptr;
    });
  } while (candidates.size() != before);
}

void Candidates::replace() {
  for (const Candidate &candidate : candidates) {
    // The operands of this candidate may have been replaced since it was
    // matched.
    AttentionCandidate found = matchAttention(candidate.context);
    OpBuilder builder(candidate.context);
    if (!found.match || failed(AttentionRewriter(builder, *found.match).run()))
      explain(candidate.context,
              "keys, values or the mask have an order that has no form here");
  }
}

namespace {
struct PipeRecognizeAttention
    : veeline::pipe::impl::PipeRecognizeAttentionBase<PipeRecognizeAttention> {
  void runOnOperation() override {
    // The derivative of a joint function belongs to the ops that it has now.
    if (getOperation().isExternal() || isJoint(getOperation()) ||
        getOperation()->hasAttr(PipeDialect::jointAttrName))
      return;
    Candidates candidates(getOperation());
    candidates.keepPrivate();
    candidates.replace();
    removeDeadOps(getOperation());
  }
};
} // namespace
