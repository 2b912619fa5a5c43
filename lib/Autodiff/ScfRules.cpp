//===- ScfRules.cpp - derivatives of loops and branches -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The body of a loop or branch is differentiated like a function: a minimum cut
// decides which values of one iteration are kept for the backward. A loop keeps
// them in stacks with one slice for each iteration. A second loop takes them
// from there in the opposite order. A branch returns them as additional
// results.
//
//===----------------------------------------------------------------------===//

#include "Activity.h"
#include "BodyBranches.h"
#include "Emit.h"
#include "RegionJoint.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/RegionUtils.h"
#include "veeline/Analysis/TensorEmit.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

/// Refuses loops in bodies of structured ops, because values cannot be kept
/// there.
static LogicalResult checkResults(Operation *op) {
  for (Type type : op->getResultTypes())
    if (!isa<RankedTensorType>(type))
      return op->emitError()
             << "'" << op->getName()
             << "' has a derivative rule outside of the bodies of structured "
                "ops only; make a dimension of the structured op of its "
                "iterations";
  return success();
}

/// The floats from outside of `op` whose gradients are wanted.
static SmallVector<Value> findCaptured(Operation *op, Adjoint &adjoint) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  return llvm::filter_to_vector(captured, [&](Value value) {
    return isDifferentiableType(value.getType()) && adjoint.wants(value);
  });
}

/// The type itself or, for a scalar, that of a tensor of one element: a scalar
/// cannot be kept.
static RankedTensorType getTensorType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor;
  return RankedTensorType::get({}, type);
}

/// The type in which gradients of all iterations are added up.
static RankedTensorType getSumType(Type type) {
  RankedTensorType tensor = getTensorType(type);
  return tensor.clone(getAccumulatorType(tensor.getElementType()));
}

static Value toTensor(OpBuilder &builder, Value value) {
  if (isa<RankedTensorType>(value.getType()))
    return value;
  return tensor::FromElementsOp::create(builder, value.getLoc(),
                                        getTensorType(value.getType()), value);
}

/// Converts a tensor to a gradient of a value of `type`.
static Value fromTensor(OpBuilder &builder, Location loc, Value tensor,
                        Type type) {
  Value converted =
      createConversion(builder, loc, tensor, getElementTypeOrSelf(type));
  if (isa<RankedTensorType>(type))
    return converted;
  return tensor::ExtractOp::create(builder, loc, converted, ValueRange{});
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

class LoopRule {
public:
  LoopRule(scf::ForOp loop, OpBuilder &builder, Adjoint &adjoint)
      : loop(loop), builder(builder), adjoint(adjoint), loc(loop.getLoc()) {}

  LogicalResult run();

private:
  void findCarried();
  LogicalResult buildJoint();
  void rewriteForward();
  void emitBackward();
  using Part = RegionJoint::Part;
  scf::ForOp emitLoop(const Part &part, ValueRange inits,
                      ArrayRef<Value> arguments, ArrayRef<Value> given,
                      ValueRange givenStacks, ArrayRef<Value> targets,
                      ArrayRef<Value> stacked);

  Value index(OpBuilder &at, int64_t value) {
    return arith::ConstantIndexOp::create(at, loc, value);
  }
  RankedTensorType getResultType(unsigned i) const {
    return cast<RankedTensorType>(loop.getResult(i).getType());
  }
  RankedTensorType getStackType(Value kept) const {
    auto type = cast<RankedTensorType>(kept.getType());
    SmallVector<int64_t> shape = {trips};
    llvm::append_range(shape, type.getShape());
    return RankedTensorType::get(shape, type.getElementType());
  }
  /// Offsets, sizes and strides of slice `number` of a stack.
  struct Slice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
  };
  Slice getSlice(Value kept, Value number) const;
  Value getNumber(OpBuilder &at, Value variable);
  void mapSlices(OpBuilder &at, const Part &part, ArrayRef<Value> values,
                 ValueRange from, Value number, IRMapping &mapping);

  mutable scf::ForOp loop;
  OpBuilder &builder;
  Adjoint &adjoint;
  Location loc;
  int64_t trips = 0, first = 0, step = 1;
  /// The gradients of the loop's results; null if a result has none.
  SmallVector<Value> gradients;
  /// The numbers of the iteration arguments that carry a gradient.
  SmallVector<unsigned> carried;
  SmallVector<Value> captured;
  DenseSet<Value> active;

  /// A block whose argument stands for the induction variable. It is not part
  /// of the joint block.
  Block outside;
  std::unique_ptr<RegionJoint> joint;
  /// The arguments for the gradients of carried values, and the gradients that
  /// an iteration computes of them; then the sums of the gradients of captured
  /// values before and after the iteration.
  SmallVector<Value> seeds, targets, sumsBefore, sumsAfter;
  /// The stacks of the values that the forward keeps.
  SmallVector<Value> stacks;
};

} // namespace

/// Finds the arguments that carry a gradient. For that, an argument has to
/// depend on a value whose gradient is wanted, and a value whose gradient is
/// given has to depend on the argument. Both may take several iterations.
void LoopRule::findCarried() {
  Block &body = *loop.getBody();
  auto yields = loop.getYieldedValues();
  unsigned count = loop.getNumResults();
  SmallVector<bool> varied(count), useful(count);
  for (unsigned i = 0; i != count; ++i) {
    bool isFloat = isDifferentiableType(loop.getResult(i).getType());
    varied[i] = isFloat && adjoint.wants(loop.getInitArgs()[i]);
    useful[i] = isFloat && gradients[i];
  }
  auto choose = [&](ValueRange values, ArrayRef<bool> isChosen) {
    SmallVector<Value> chosen;
    for (auto [value, is] : llvm::zip_equal(values, isChosen))
      if (is)
        chosen.push_back(value);
    return chosen;
  };
  for (bool changed = true; changed;) {
    changed = false;
    SmallVector<Value> from = choose(loop.getRegionIterArgs(), varied);
    llvm::append_range(from, captured);
    active = findActiveValues(body, from, choose(yields, useful));
    DenseSet<Value> reached =
        findActiveValues(body, from, SmallVector<Value>(yields));
    for (unsigned i = 0; i != count; ++i) {
      bool isFloat = isDifferentiableType(loop.getResult(i).getType());
      if (!varied[i] && isFloat && reached.contains(yields[i]))
        varied[i] = changed = true;
      if (!useful[i] && active.contains(loop.getRegionIterArg(i)))
        useful[i] = changed = true;
    }
  }
  for (unsigned i = 0; i != count; ++i)
    if (varied[i] && useful[i])
      carried.push_back(i);
}

LogicalResult LoopRule::buildJoint() {
  IRMapping mapped;
  mapped.map(loop.getInductionVar(),
             outside.addArgument(builder.getIndexType(), loc));
  joint = std::make_unique<RegionJoint>(*loop.getBody(), mapped);
  SmallVector<std::pair<Value, Value>> pairs;
  for (unsigned i : carried) {
    seeds.push_back(joint->block.addArgument(loop.getResult(i).getType(), loc));
    pairs.push_back({loop.getYieldedValues()[i], seeds.back()});
  }
  if (failed(joint->differentiate(active, pairs)))
    return failure();
  for (unsigned i : carried) {
    Value gradient =
        joint->adjoint->gradient(joint->get(loop.getRegionIterArg(i)));
    targets.push_back(gradient
                          ? gradient
                          : createZeros(joint->builder, loc, getResultType(i)));
  }
  for (Value value : captured) {
    Value sum = joint->block.addArgument(getSumType(value.getType()), loc);
    joint->late.insert(sum);
    sumsBefore.push_back(sum);
    sumsAfter.push_back(joint->adjoint->addContributions(value, sum));
  }
  SmallVector<Value> all = targets;
  llvm::append_range(all, sumsAfter);
  joint->partition(all);
  return success();
}

LoopRule::Slice LoopRule::getSlice(Value kept, Value number) const {
  auto type = cast<RankedTensorType>(kept.getType());
  unsigned rank = type.getRank() + 1;
  Slice slice;
  slice.offsets.assign(rank, builder.getIndexAttr(0));
  slice.offsets.front() = number;
  slice.sizes.push_back(builder.getIndexAttr(1));
  for (int64_t size : type.getShape())
    slice.sizes.push_back(builder.getIndexAttr(size));
  slice.strides.assign(rank, builder.getIndexAttr(1));
  return slice;
}

/// The number of the iteration in which the induction variable is `variable`.
Value LoopRule::getNumber(OpBuilder &at, Value variable) {
  if (first != 0)
    variable =
        arith::SubIOp::create(at, loc, variable, index(at, first)).getResult();
  if (step != 1)
    variable =
        arith::DivSIOp::create(at, loc, variable, index(at, step)).getResult();
  return variable;
}

/// Replaces the loop by one that also fills the stacks.
void LoopRule::rewriteForward() {
  if (joint->kept.empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  SmallVector<Value> inits(loop.getInitArgs());
  for (Value kept : joint->kept)
    inits.push_back(createEmpty(builder, loc, getStackType(kept)));
  auto forward =
      scf::ForOp::create(builder, loc, loop.getLowerBound(),
                         loop.getUpperBound(), loop.getStep(), inits);
  forward->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder at = OpBuilder::atBlockEnd(forward.getBody());
  IRMapping mapping;
  mapping.map(outside.getArgument(0), forward.getInductionVar());
  for (auto [argument, old] :
       llvm::zip(forward.getRegionIterArgs(), loop.getRegionIterArgs()))
    mapping.map(joint->get(old), argument);
  SmallVector<Value> results(joint->yielded());
  llvm::append_range(results, joint->kept);
  joint->cloneForward(at, results, mapping);
  SmallVector<Value> yields;
  for (Value value : joint->yielded())
    yields.push_back(mapping.lookupOrDefault(value));
  unsigned numResults = yields.size();
  Value number = getNumber(at, forward.getInductionVar());
  for (auto [i, kept] : llvm::enumerate(joint->kept)) {
    Slice slice = getSlice(kept, number);
    yields.push_back(tensor::InsertSliceOp::create(
        at, loc, mapping.lookup(kept), forward.getRegionIterArg(numResults + i),
        slice.offsets, slice.sizes, slice.strides));
  }
  scf::YieldOp::create(at, loc, yields);
  stacks.assign(forward.result_begin() + numResults, forward.result_end());
  loop->replaceAllUsesWith(forward->getResults().take_front(numResults));
}

/// Reads those of `values` that `part` uses from their stacks.
void LoopRule::mapSlices(OpBuilder &at, const Part &part,
                         ArrayRef<Value> values, ValueRange from, Value number,
                         IRMapping &mapping) {
  DenseSet<Value> used;
  for (Operation *op : part.ops)
    used.insert_range(getAllOperands(*op));
  for (auto [value, stack] : llvm::zip_equal(values, from)) {
    if (!used.contains(value))
      continue;
    Slice slice = getSlice(value, number);
    mapping.map(value, tensor::ExtractSliceOp::create(
                           at, loc, cast<RankedTensorType>(value.getType()),
                           stack, slice.offsets, slice.sizes, slice.strides)
                           .getResult());
  }
}

/// Emits a loop from the last iteration to the first that runs `part` of the
/// backward. It carries `targets`, whose values at the begin of an iteration
/// are `arguments` of the joint block, and the stacks of the values `stacked`,
/// which it fills. It reads the values `given` from their stacks.
scf::ForOp LoopRule::emitLoop(const Part &part, ValueRange inits,
                              ArrayRef<Value> arguments, ArrayRef<Value> given,
                              ValueRange givenStacks, ArrayRef<Value> targets,
                              ArrayRef<Value> stacked) {
  SmallVector<Value> all(inits);
  for (Value value : stacked)
    all.push_back(createEmpty(builder, loc, getStackType(value)));
  auto result =
      scf::ForOp::create(builder, loc, index(builder, 0), index(builder, trips),
                         index(builder, 1), all);
  OpBuilder at = OpBuilder::atBlockEnd(result.getBody());
  Value number = arith::SubIOp::create(at, loc, index(at, trips - 1),
                                       result.getInductionVar());
  Value variable = number;
  if (step != 1)
    variable = arith::MulIOp::create(at, loc, variable, index(at, step));
  if (first != 0)
    variable = arith::AddIOp::create(at, loc, variable, index(at, first));
  IRMapping mapping;
  mapping.map(outside.getArgument(0), variable);
  for (auto [argument, now] : llvm::zip(arguments, result.getRegionIterArgs()))
    mapping.map(argument, now);
  mapSlices(at, part, joint->kept, stacks, number, mapping);
  mapSlices(at, part, given, givenStacks, number, mapping);
  for (Operation *op : part.ops)
    at.clone(*op, mapping);
  SmallVector<Value> yields;
  for (Value target : targets)
    yields.push_back(mapping.lookupOrDefault(target));
  for (auto [i, value] : llvm::enumerate(stacked)) {
    Slice slice = getSlice(value, number);
    yields.push_back(tensor::InsertSliceOp::create(
        at, loc, mapping.lookup(value),
        result.getRegionIterArg(inits.size() + i), slice.offsets, slice.sizes,
        slice.strides));
  }
  scf::YieldOp::create(at, loc, yields);
  return result;
}

/// Emits one loop for all gradients that are carried, and one for the gradient
/// of each captured value, so that the gradient of a parameter can wait for W.
/// Values of the first loop that the others use are kept in stacks.
void LoopRule::emitBackward() {
  Part chain = joint->selectBackward(targets, [](Value) { return false; });
  DenseSet<Operation *> inChain(chain.ops.begin(), chain.ops.end());
  auto isGiven = [&](Value value) {
    if (llvm::is_contained(seeds, value))
      return true;
    Operation *op = value.getDefiningOp();
    return op && inChain.contains(op) && joint->late.contains(value) &&
           isKeepable(value);
  };
  SmallVector<Part> parts;
  llvm::SetVector<Value> given;
  for (Value sum : sumsAfter) {
    parts.push_back(joint->selectBackward(sum, isGiven));
    given.insert_range(parts.back().taken);
  }
  SmallVector<Value> inits;
  for (unsigned i : carried)
    inits.push_back(gradients[i] ? gradients[i]
                                 : createZeros(builder, loc, getResultType(i)));
  ValueRange givenStacks;
  if (!carried.empty()) {
    scf::ForOp backward =
        emitLoop(chain, inits, seeds, {}, {}, targets, given.getArrayRef());
    givenStacks = backward.getResults().drop_front(carried.size());
    for (auto [i, gradient] : llvm::zip(carried, backward.getResults()))
      if (adjoint.wants(loop.getInitArgs()[i]))
        adjoint.contribute(loop.getInitArgs()[i], gradient);
  }
  for (auto [i, value] : llvm::enumerate(captured)) {
    Value zeros = createZeros(builder, loc, getSumType(value.getType()));
    scf::ForOp sum =
        emitLoop(parts[i], zeros, sumsBefore[i], given.getArrayRef(),
                 givenStacks, sumsAfter[i], {});
    adjoint.contribute(
        value, fromTensor(builder, loc, sum.getResult(0), value.getType()));
  }
}

LogicalResult LoopRule::run() {
  std::optional<APInt> count = loop.getStaticTripCount();
  std::optional<int64_t> lower = getConstantIntValue(loop.getLowerBound());
  std::optional<int64_t> stride = getConstantIntValue(loop.getStep());
  if (!count || !lower || !stride ||
      !loop.getInductionVar().getType().isIndex())
    return loop.emitError("'scf.for' has a derivative rule where its induction "
                          "variable is an index and its bounds and its step "
                          "are constants");
  trips = count->getZExtValue();
  first = *lower;
  step = *stride;
  for (Value result : loop.getResults())
    gradients.push_back(adjoint.gradient(result));
  captured = findCaptured(loop, adjoint);
  findCarried();
  if (failed(buildJoint()))
    return failure();
  rewriteForward();
  emitBackward();
  return success();
}

static LogicalResult differentiateFor(scf::ForOp loop, OpBuilder &builder,
                                      Adjoint &adjoint) {
  if (failed(checkResults(loop)))
    return failure();
  return LoopRule(loop, builder, adjoint).run();
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

namespace {

class BranchRule {
public:
  BranchRule(scf::IfOp op, OpBuilder &builder, Adjoint &adjoint)
      : op(op), builder(builder), adjoint(adjoint), loc(op.getLoc()) {}

  LogicalResult run();

private:
  /// One of the two regions of the op.
  struct Branch {
    std::unique_ptr<RegionJoint> joint;
    /// The gradients of captured values; null for those that this region does
    /// not use.
    SmallVector<Value> gradients;
    /// For each value that this region keeps, its place among the additional
    /// results.
    SmallVector<unsigned> places;
  };

  FailureOr<Branch> differentiate(Region &region);
  void choosePlaces();
  void rewriteForward();
  void emitBackward();

  scf::IfOp op;
  OpBuilder &builder;
  Adjoint &adjoint;
  Location loc;
  SmallVector<Value> captured, gradients;
  std::array<Branch, 2> branches;
  /// The types of the additional results, and these results.
  SmallVector<Type> types;
  SmallVector<Value> places;
};

} // namespace

FailureOr<BranchRule::Branch> BranchRule::differentiate(Region &region) {
  Branch branch;
  Block &block = region.front();
  branch.joint = std::make_unique<RegionJoint>(block, IRMapping());
  SmallVector<Value> ends;
  SmallVector<std::pair<Value, Value>> seeds;
  for (auto [value, gradient] :
       llvm::zip_equal(block.getTerminator()->getOperands(), gradients))
    if (gradient) {
      ends.push_back(value);
      seeds.push_back({value, gradient});
    }
  DenseSet<Value> active = findActiveValues(block, captured, ends);
  if (failed(branch.joint->differentiate(active, seeds)))
    return failure();
  SmallVector<Value> targets;
  for (Value value : captured) {
    branch.gradients.push_back(branch.joint->adjoint->gradient(value));
    if (branch.gradients.back())
      targets.push_back(branch.gradients.back());
  }
  branch.joint->partition(targets);
  return branch;
}

/// Only one of the regions runs, so values of one type can share a result.
void BranchRule::choosePlaces() {
  for (Branch &branch : branches)
    for (Value kept : branch.joint->kept) {
      unsigned place = 0;
      while (place != types.size() &&
             (types[place] != kept.getType() ||
              llvm::is_contained(branch.places, place)))
        ++place;
      if (place == types.size())
        types.push_back(kept.getType());
      branch.places.push_back(place);
    }
}

/// Replaces the op by one that also returns the kept values.
void BranchRule::rewriteForward() {
  if (types.empty())
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(op);
  SmallVector<Type> resultTypes(op.getResultTypes());
  llvm::append_range(resultTypes, types);
  auto forward = scf::IfOp::create(builder, loc, resultTypes, op.getCondition(),
                                   /*withElseRegion=*/true);
  for (auto [branch, region] :
       llvm::zip_equal(branches, forward->getRegions())) {
    OpBuilder at = OpBuilder::atBlockEnd(&region.front());
    IRMapping mapping;
    SmallVector<Value> results(branch.joint->yielded());
    llvm::append_range(results, branch.joint->kept);
    branch.joint->cloneForward(at, results, mapping);
    SmallVector<Value> yields;
    for (Value value : branch.joint->yielded())
      yields.push_back(mapping.lookupOrDefault(value));
    for (auto [place, type] : llvm::enumerate(types)) {
      auto it = llvm::find(branch.places, place);
      yields.push_back(
          it == branch.places.end()
              ? createEmpty(at, loc, cast<RankedTensorType>(type))
              : mapping.lookup(branch.joint->kept[it - branch.places.begin()]));
    }
    scf::YieldOp::create(at, loc, yields);
  }
  unsigned numResults = op.getNumResults();
  places.assign(forward.result_begin() + numResults, forward.result_end());
  op->replaceAllUsesWith(forward->getResults().take_front(numResults));
}

void BranchRule::emitBackward() {
  SmallVector<Type> resultTypes;
  for (Value value : captured)
    resultTypes.push_back(getTensorType(value.getType()));
  auto backward =
      scf::IfOp::create(builder, loc, resultTypes,
                        adjoint.primal(op.getCondition()), /*withElse=*/true);
  for (auto [branch, region] :
       llvm::zip_equal(branches, backward->getRegions())) {
    OpBuilder at = OpBuilder::atBlockEnd(&region.front());
    IRMapping mapping;
    for (auto [kept, place] :
         llvm::zip_equal(branch.joint->kept, branch.places))
      mapping.map(kept, places[place]);
    RegionJoint::Part part = branch.joint->selectBackward(
        branch.gradients, [](Value) { return false; });
    for (Operation *inner : part.ops)
      at.clone(*inner, mapping);
    SmallVector<Value> yields;
    for (auto [value, gradient] : llvm::zip_equal(captured, branch.gradients))
      yields.push_back(
          gradient ? toTensor(at, mapping.lookupOrDefault(gradient))
                   : createZeros(at, loc, getTensorType(value.getType())));
    scf::YieldOp::create(at, loc, yields);
  }
  for (auto [value, gradient] :
       llvm::zip_equal(captured, backward.getResults()))
    adjoint.contribute(value,
                       fromTensor(builder, loc, gradient, value.getType()));
}

LogicalResult BranchRule::run() {
  for (Value result : op.getResults())
    gradients.push_back(adjoint.gradient(result));
  captured = findCaptured(op, adjoint);
  if (captured.empty())
    return success();
  for (auto [branch, region] : llvm::zip_equal(branches, op->getRegions())) {
    FailureOr<Branch> built = differentiate(region);
    if (failed(built))
      return failure();
    branch = std::move(*built);
  }
  choosePlaces();
  rewriteForward();
  emitBackward();
  return success();
}

static LogicalResult differentiateIf(scf::IfOp op, OpBuilder &builder,
                                     Adjoint &adjoint) {
  if (op->getParentOfType<linalg::LinalgOp>())
    return differentiateBodyBranch(op, builder, adjoint);
  return BranchRule(op, builder, adjoint).run();
}

void veeline::autodiff::registerScfRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *ctx, scf::SCFDialect *) {
    attachRules<differentiateFor, differentiateIf>(ctx);
  });
}
