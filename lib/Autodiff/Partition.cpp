//===- Partition.cpp - dividing a block into two functions ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Partition.h"

#include "Activity.h"
#include "MinimumCut.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "veeline/Analysis/Convolution.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Analysis/FloatConversion.h"
#include "veeline/Autodiff/Loops.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;

//===----------------------------------------------------------------------===//
// Policy
//===----------------------------------------------------------------------===//

/// Whether an op shows the data of another value without a copy. Extensions of
/// small floats count as views, because each reader extends what it loads.
static bool isView(Operation *op) {
  if (op->getNumResults() == 1 && getExtended(op->getResult(0)))
    return true;
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return isLibraryPadding(pad);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return !isInsideOfLibraryPadding(slice);
  return isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ReshapeOp>(op);
}

/// Whether an op always computes the same value from nothing.
static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>() ||
         isa<tensor::EmptyOp, tensor::SplatOp, linalg::FillOp>(op);
}

/// Whether an op only moves data.
static bool isMove(linalg::LinalgOp op) {
  return llvm::hasSingleElement(*op.getBlock());
}

/// The price of recomputing an op under the policy Balanced. It is a share of
/// the bytes that the op writes: a quarter, half with transcendental functions,
/// an eighth without any arithmetic. Products and reductions are never
/// recomputed.
static std::optional<int64_t> getBalancedPrice(Operation *op) {
  int64_t bytes = 0;
  for (Type type : op->getResultTypes())
    bytes += getNumBytes(type);
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (structured.getNumReductionLoops() != 0)
      return std::nullopt;
    bool isExpensive = false;
    op->walk([&](Operation *nested) {
      isExpensive |= isa<math::MathDialect>(nested->getDialect());
    });
    return bytes * pricePerByte /
           (isMove(structured) ? 8
            : isExpensive      ? 2
                               : 4);
  }
  if (isa<tensor::TensorDialect>(op->getDialect()))
    return bytes * pricePerByte / 8;
  return std::nullopt;
}

/// The bytes of the tensors whose elements `op` reads.
static int64_t getBytesRead(Operation *op) {
  int64_t bytes = 0;
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    Operation *def = operand.get().getDefiningOp();
    if (isa<RankedTensorType>(operand.get().getType()) &&
        !(def && isConstant(def)) &&
        !(structured && !structured.payloadUsesValueFromOperand(&operand)))
      bytes += getNumBytes(operand.get().getType());
  }
  return bytes;
}

int64_t veeline::autodiff::getExcessPrice(Operation *op) {
  int64_t excess = getBytesRead(op);
  for (Type type : op->getResultTypes())
    excess -= getNumBytes(type);
  return std::max<int64_t>(excess, 0) * pricePerByte;
}

/// The price of recomputing an op under the policy Cheap: that of the bytes
/// read beyond those written, or the price of Balanced if it is lower.
static std::optional<int64_t> getCheapPrice(Operation *op) {
  if (!isa<linalg::LinalgOp>(op) &&
      !isa<tensor::TensorDialect>(op->getDialect()))
    return std::nullopt;
  if (isContraction(op))
    return std::nullopt;
  int64_t price = getExcessPrice(op);
  return std::min(price, getBalancedPrice(op).value_or(price));
}

std::optional<int64_t>
veeline::autodiff::getRecomputePrice(Operation *op, const Recompute &policy) {
  // A scalar cannot be kept, so it is always recomputed.
  if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return 0;
  if (isView(op) || !isKeepable(op->getResult(0)))
    return 0;
  switch (policy.kind) {
  case RecomputeKind::Balanced:
    return getBalancedPrice(op);
  case RecomputeKind::Cheap:
    return getCheapPrice(op);
  case RecomputeKind::Rate: {
    double price =
        policy.amount * pricePerByte * estimateNanoseconds(estimateCost(op));
    constexpr auto most = static_cast<double>(FlowNetwork::unlimited / 1024);
    return static_cast<int64_t>(std::min(price, most));
  }
  default:
    return std::nullopt;
  }
}

bool veeline::autodiff::isKeepable(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return false;
  Operation *op = value.getDefiningOp();
  return !op || !(isView(op) || isConstant(op));
}

int64_t veeline::autodiff::getNumBytes(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  Type element = tensor.getElementType();
  int64_t bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return tensor.getNumElements() * llvm::divideCeil(bits, 8);
}

//===----------------------------------------------------------------------===//
// Choices by position
//===----------------------------------------------------------------------===//

/// The ops of a block that are not constants, in order.
static SmallVector<Operation *> getCountedOps(Block &block) {
  SmallVector<Operation *> ops;
  for (Operation &op : block)
    if (!isConstant(&op))
      ops.push_back(&op);
  return ops;
}

static DenseSet<Value> findKept(Block &block, const PartitionChoice &choice) {
  SmallVector<Operation *> ops = getCountedOps(block);
  DenseSet<Value> kept;
  for (auto [op, result] : choice.kept)
    kept.insert(ops[op]->getResult(result));
  return kept;
}

/// Hashes, for each op, what it is and which values it takes. Constants are
/// left out.
static std::vector<size_t> describeOps(ArrayRef<Operation *> ops) {
  llvm::DenseMap<Operation *, size_t> number;
  std::vector<size_t> descriptions;
  for (auto [i, op] : llvm::enumerate(ops)) {
    number[op] = i;
    llvm::hash_code hash =
        llvm::hash_combine(op->getName().getStringRef(), op->getNumResults());
    for (Value operand : getAllOperands(*op)) {
      if (auto argument = dyn_cast<BlockArgument>(operand)) {
        hash = llvm::hash_combine(hash, 'a', argument.getArgNumber());
        continue;
      }
      auto it = number.find(operand.getDefiningOp());
      hash =
          it == number.end()
              ? llvm::hash_combine(hash, 'c')
              : llvm::hash_combine(hash, it->second,
                                   cast<OpResult>(operand).getResultNumber());
    }
    descriptions.push_back(hash);
  }
  return descriptions;
}

PartitionChoice veeline::autodiff::noteChoice(Block &block,
                                              const Partition &partition) {
  SmallVector<Operation *> ops = getCountedOps(block);
  PartitionChoice choice{describeOps(ops), {}};
  DenseSet<Value> kept(partition.kept.begin(), partition.kept.end());
  for (auto [i, op] : llvm::enumerate(ops))
    for (OpResult result : op->getResults())
      if (kept.contains(result))
        choice.kept.push_back(
            {static_cast<unsigned>(i), result.getResultNumber()});
  return choice;
}

LogicalResult veeline::autodiff::verifyAlike(Block &block,
                                             const PartitionChoice &choice) {
  SmallVector<Operation *> ops = getCountedOps(block);
  std::vector<size_t> found = describeOps(ops);
  if (found == choice.ops)
    return success();
  auto [at, other] = std::mismatch(found.begin(), found.end(),
                                   choice.ops.begin(), choice.ops.end());
  Operation *op =
      at == found.end() ? block.getTerminator() : ops[at - found.begin()];
  return op->emitError()
         << "the derivative of the model at this length is not made of the "
            "same ops as at the bound, so that the two cannot keep the same "
            "values; this is the first op that differs. Leave the length out: "
            "take a greater multiple";
}

//===----------------------------------------------------------------------===//
// The cut
//===----------------------------------------------------------------------===//

namespace {

class PartitionSolver {
public:
  explicit PartitionSolver(const PartitionRequest &request) : request(request) {
    if (request.follow && !request.targets.empty())
      keptBefore = findKept(*Value(request.targets.front()).getParentBlock(),
                            *request.follow);
  }

  Partition solve();

private:
  struct Nodes {
    FlowNetwork::Node in, out;
  };
  FlowNetwork::Node demand(Value value);
  void demandLater(Value value);
  void emit(Value value);
  void emit(Operation *op);

  const PartitionRequest &request;
  FlowNetwork network;
  llvm::MapVector<Value, Nodes> nodes;
  SmallVector<Operation *> later;
  DenseSet<Operation *> seenLater;
  std::vector<bool> sinkSide;
  /// If a choice is repeated, the values that it keeps.
  DenseSet<Value> keptBefore;
  DenseSet<Operation *> emitted;
  llvm::SetVector<Value> kept;
  Partition partition;
};

} // namespace

/// The operands of an op that are defined in its block, also those of its
/// regions.
static SmallVector<Value> getBlockOperands(Operation *op) {
  SmallVector<Value> operands = getAllOperands(*op);
  llvm::erase_if(operands,
                 [&](Value v) { return v.getParentBlock() != op->getBlock(); });
  return operands;
}

/// The node that stands for `value` being available to the later function. The
/// edge to it has the price of keeping the value; the edges before that have
/// the price of recomputing it.
FlowNetwork::Node PartitionSolver::demand(Value value) {
  auto it = nodes.find(value);
  if (it != nodes.end())
    return it->second.out;
  FlowNetwork::Node in = network.addNode(), out = network.addNode();
  nodes.insert({value, {in, out}});
  std::optional<int64_t> keeping =
      isKeepable(value) ? request.price(value) : std::nullopt;
  network.addEdge(in, out, keeping.value_or(FlowNetwork::unlimited));
  Operation *op = value.getDefiningOp();
  std::optional<int64_t> price = op ? request.recomputePrice(op) : std::nullopt;
  if (!price) {
    network.addEdge(FlowNetwork::source, in, FlowNetwork::unlimited);
    return out;
  }
  network.addEdge(FlowNetwork::source, in, *price);
  for (Value operand : getBlockOperands(op))
    network.addEdge(demand(operand), in, FlowNetwork::unlimited);
  return out;
}

void PartitionSolver::demandLater(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !request.runsLater(op)) {
    if (request.follow)
      return;
    network.addEdge(demand(value), FlowNetwork::sink, FlowNetwork::unlimited);
    return;
  }
  if (!seenLater.insert(op).second)
    return;
  later.push_back(op);
  for (Value operand : getBlockOperands(op))
    demandLater(operand);
}

void PartitionSolver::emit(Operation *op) {
  if (!emitted.insert(op).second)
    return;
  for (Value operand : getBlockOperands(op))
    emit(operand);
  partition.ops.push_back(op);
}

void PartitionSolver::emit(Value value) {
  Operation *op = value.getDefiningOp();
  if (op && emitted.contains(op))
    return;
  bool isKept = request.follow ? keptBefore.contains(value)
                               : !(op && request.runsLater(op)) &&
                                     !sinkSide[nodes[value].in];
  if (op && !isKept)
    return emit(op);
  kept.insert(value);
}

Partition PartitionSolver::solve() {
  for (Value target : request.targets)
    demandLater(target);
  if (!request.follow)
    sinkSide = network.findSinkSide();
  llvm::sort(later,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : later)
    emit(op);
  for (Value target : request.targets)
    emit(target);
  partition.kept = kept.takeVector();
  return std::move(partition);
}

Partition veeline::autodiff::choosePartition(const PartitionRequest &request) {
  return PartitionSolver(request).solve();
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

SmallVector<Operation *>
veeline::autodiff::getBackwardSlice(ArrayRef<Value> targets) {
  llvm::SetVector<Operation *> ops;
  for (Value target : targets)
    if (Operation *op = target.getDefiningOp())
      ops.insert(op);
  for (size_t i = 0; i != ops.size(); ++i)
    for (Value operand : getBlockOperands(ops[i]))
      if (Operation *op = operand.getDefiningOp())
        ops.insert(op);
  SmallVector<Operation *> slice = ops.takeVector();
  llvm::sort(slice,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return slice;
}

/// Gives each op that starts from an `InitOp` its own one, just before it.
template <typename InitOp> static void separateInits(func::FuncOp func) {
  SmallVector<DestinationStyleOpInterface> ops;
  func.walk([&](DestinationStyleOpInterface op) { ops.push_back(op); });
  for (DestinationStyleOpInterface op : ops)
    for (OpOperand &init : op.getDpsInitsMutable())
      if (auto def = init.get().getDefiningOp<InitOp>())
        init.set(OpBuilder(op).clone(*def)->getResult(0));
  for (auto def : llvm::make_early_inc_range(func.getOps<InitOp>()))
    if (def->use_empty())
      def->erase();
}

OwningOpRef<func::FuncOp> veeline::autodiff::extractFunction(
    Location loc, StringRef name, ArrayRef<Value> arguments,
    ArrayRef<Operation *> ops, ArrayRef<Value> results,
    SmallVectorImpl<unsigned> &usedArguments) {
  DenseSet<Value> used(results.begin(), results.end());
  for (Operation *op : ops)
    used.insert_range(getAllOperands(*op));
  SmallVector<Value> taken;
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (used.contains(argument)) {
      taken.push_back(argument);
      usedArguments.push_back(i);
    }
  MLIRContext *context = loc.getContext();
  OpBuilder builder(context);
  auto type = FunctionType::get(context, TypeRange(ValueRange(taken)),
                                TypeRange(ValueRange(results)));
  OwningOpRef<func::FuncOp> func = func::FuncOp::create(loc, name, type);
  func->setPrivate();
  Block *block = func->addEntryBlock();
  IRMapping mapping;
  mapping.map(taken, block->getArguments());
  builder.setInsertionPointToEnd(block);
  for (Operation *op : ops)
    builder.clone(*op, mapping);
  SmallVector<Value> returned;
  for (Value result : results)
    returned.push_back(mapping.lookup(result));
  func::ReturnOp::create(builder, loc, returned);
  dropUnusedResults(*func);
  // A shared fill or empty tensor would have to be copied for all but one of
  // its users. One far from its user would take memory for long.
  separateInits<linalg::FillOp>(*func);
  separateInits<tensor::EmptyOp>(*func);
  return func;
}
