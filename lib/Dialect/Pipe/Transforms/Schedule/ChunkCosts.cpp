//===- ChunkCosts.cpp - the times of a chunk's operations -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/ChunkCosts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/OperationSupport.h"
#include "veeline/Analysis/CostModel.h"
#include "veeline/Analysis/MachineCost.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"

#include <cmath>
#include <numeric>
#include <unordered_map>

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

CostScale veeline::pipe::getCostScale(ChunkOp chunk) {
  auto scale = chunk->getAttrOfType<DenseF64ArrayAttr>(costScaleAttrName);
  // No verifier checks this attribute. Make sure that times stay finite.
  auto isScale = [](double factor) { return factor >= 0 && factor <= 1e100; };
  if (!scale || scale.size() != 3 || !all_of(scale.asArrayRef(), isScale))
    return {1, 1, 1};
  return {scale[0], scale[1], scale[2]};
}

std::array<int64_t, 4> veeline::pipe::getRepeatedCost(ChunkOp chunk) {
  auto cost = chunk->getAttrOfType<DenseI64ArrayAttr>(repeatedCostAttrName);
  if (!cost || cost.size() != 4)
    return {};
  return {cost[0], cost[1], cost[2], cost[3]};
}

//===----------------------------------------------------------------------===//
// Work of earlier functions
//===----------------------------------------------------------------------===//

namespace {

/// Estimates in nanoseconds: of what a function computes for the first time,
/// and of what it repeats of F and of B.
struct Work {
  double own = 0, ofForward = 0, ofInput = 0;
  double total() const { return own + ofForward + ofInput; }
};

/// The time of a function by the cost model, and its total time by the
/// machine's table, if there is one.
struct Estimate {
  Work model;
  double table = 0;
};

/// Numbers the values of a chunk's functions, so that equal numbers stand for
/// the same value. The number of an argument depends on what it stands for;
/// that of a result depends on its op and the op's operands.
class ValueNumbers {
public:
  /// `table` may be null. `cycle` is the number of bytes touched between two
  /// runs of a function.
  ValueNumbers(const MachineTable *table, uint64_t cycle)
      : table(table), cycle(cycle) {}

  /// Adds a function. Functions have to be added in the order in which they
  /// run.
  Estimate add(func::FuncOp func, ChunkFunctionKind kind);

private:
  struct Entry {
    Operation *op;
    /// The kind of the function that computes it first.
    ChunkFunctionKind kind;
  };

  void setArguments(func::FuncOp func, const ChunkSignature &signature);
  void setResults(func::FuncOp func, const ChunkSignature &signature);
  const Entry &find(Operation *op, ChunkFunctionKind kind);
  bool isSame(Operation *a, Operation *b) const;
  unsigned numberOf(const ChunkValue &value);

  bool isOfArguments(Operation *op) const;

  const MachineTable *table;
  uint64_t cycle;
  unsigned next = 0;
  llvm::DenseMap<Value, unsigned> numbers;
  /// Values that depend on no argument, such as zeros. Every function computes
  /// its own ones, so they do not count as repeated work.
  llvm::DenseSet<Value> fixed;
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> ofRoles;
  std::unordered_multimap<size_t, Entry> entries;
};

} // namespace

unsigned ValueNumbers::numberOf(const ChunkValue &value) {
  auto [entry, isNew] = ofRoles.try_emplace(
      {static_cast<unsigned>(value.kind), value.index}, next);
  next += isNew;
  return entry->second;
}

void ValueNumbers::setArguments(func::FuncOp func,
                                const ChunkSignature &signature) {
  for (auto [argument, value] :
       llvm::zip_equal(func.getArguments(), signature.arguments))
    numbers[argument] = numberOf(value);
}

/// Gives the results the numbers of the values that they return.
void ValueNumbers::setResults(func::FuncOp func,
                              const ChunkSignature &signature) {
  Operation *end = func.getBody().front().getTerminator();
  for (auto [result, value] :
       llvm::zip_equal(end->getOperands(), signature.results))
    ofRoles.try_emplace({static_cast<unsigned>(value.kind), value.index},
                        numbers.lookup(result));
}

bool ValueNumbers::isSame(Operation *a, Operation *b) const {
  llvm::DenseMap<Value, Value> inside;
  auto isEqual = [&](Value x, Value y) {
    if (Value found = inside.lookup(x))
      return success(found == y);
    auto first = numbers.find(x), second = numbers.find(y);
    return success(first != numbers.end() && second != numbers.end() &&
                   first->second == second->second);
  };
  return OperationEquivalence::isEquivalentTo(
      a, b, isEqual, [&](Value x, Value y) { inside[x] = y; },
      OperationEquivalence::IgnoreLocations);
}

/// The first op that computes the same as `op`.
const ValueNumbers::Entry &ValueNumbers::find(Operation *op,
                                              ChunkFunctionKind kind) {
  size_t hash = OperationEquivalence::computeHash(
      op,
      [&](Value operand) { return llvm::hash_value(numbers.lookup(operand)); },
      OperationEquivalence::ignoreHashValue,
      OperationEquivalence::IgnoreLocations);
  auto [begin, end] = entries.equal_range(hash);
  for (auto entry = begin; entry != end; ++entry)
    if (isSame(entry->second.op, op))
      return entry->second;
  return entries.emplace(hash, Entry{op, kind})->second;
}

bool ValueNumbers::isOfArguments(Operation *op) const {
  bool mayCapture = op->getNumRegions() != 0 && !isa<linalg::LinalgOp>(op);
  return mayCapture || llvm::any_of(op->getOperands(), [&](Value operand) {
           return !fixed.contains(operand);
         });
}

/// The time of writing values to memory for another function, or of reading
/// them. They are not in a cache by then.
static double estimateTraffic(const ChunkSignature &signature) {
  uint64_t bytes = 0;
  for (ArrayRef<ChunkValue> values :
       {ArrayRef(signature.arguments), ArrayRef(signature.results)})
    for (const ChunkValue &value : values)
      if (value.kind == RoleKind::Residual || value.kind == RoleKind::Saved ||
          value.kind == RoleKind::Recomputed)
        bytes += getByteSize(value.type);
  return bytes / Machine().bytesPerNs;
}

/// The time of adding the gradients of parameters to those of other
/// microbatches.
static double estimateAccumulation(const ChunkSignature &signature,
                                   const MachineCost &cost) {
  double time = 0;
  for (const ChunkValue &value : signature.results)
    if (value.kind == RoleKind::ParamGrad)
      time += cost.estimateAccumulation(getByteSize(value.type));
  return time;
}

/// The time of moving recomputed values, if the recomputation contains
/// products. There are many of these values at a time, so they go to memory.
/// (Other recomputation is fused into the ops that use it.) The time of a value
/// is added at the first op that uses it for something new. `remade` has the
/// values that no such op has used yet.
static double estimateTraffic(Operation &op, bool isProduct, bool isRepeated,
                              llvm::SmallDenseSet<Value> &remade) {
  bool usesRemade = false;
  uint64_t bytes = 0;
  for (Value operand : op.getOperands())
    if (isRepeated ? remade.contains(operand) : remade.erase(operand)) {
      usesRemade = true;
      bytes += getByteSize(operand.getType());
    }
  if (isRepeated && (isProduct || usesRemade))
    remade.insert_range(op.getResults());
  return isRepeated ? 0 : 2 * bytes / Machine().bytesPerNs;
}

/// Adds the traffic to the estimate of all parts together. Arithmetic of one
/// part hides memory traffic of other parts, but not the traffic of kept
/// values. Each part gets its share of the sum.
static Work makeWork(const OpCost &own, const OpCost &ofForward,
                     const OpCost &ofInput, double traffic) {
  OpCost all = own;
  all += ofForward;
  all += ofInput;
  Work work = {estimateNanoseconds(own) + traffic,
               estimateNanoseconds(ofForward), estimateNanoseconds(ofInput)};
  double whole = std::max(1.0, estimateNanoseconds(all) + traffic);
  if (work.total() <= 0)
    return {whole};
  double share = whole / work.total();
  return {work.own * share, work.ofForward * share, work.ofInput * share};
}

Estimate ValueNumbers::add(func::FuncOp func, ChunkFunctionKind kind) {
  if (!func)
    return {};
  FailureOr<ChunkSignature> signature = getChunkSignature(func);
  if (failed(signature))
    return {{1}, 1};
  double traffic = estimateTraffic(*signature);
  if (func.isDeclaration())
    return {{std::max(1.0, traffic)}, std::max(1.0, traffic)};
  setArguments(func, *signature);
  OpCost own, ofForward, ofInput;
  std::optional<MachineCost> machine;
  if (table)
    machine.emplace(*table, cycle);
  double byTable = machine ? estimateAccumulation(*signature, *machine) : 0;
  llvm::SmallDenseSet<Value> remade;
  for (Operation &op : func.getBody().front()) {
    const Entry &first = find(&op, kind);
    bool isRepeated = first.kind != kind && isOfArguments(&op);
    OpCost cost = estimateCost(&op);
    traffic += estimateTraffic(op, isRepeated && cost.contractionFlops > 0,
                               isRepeated, remade);
    // Work that is recomputed ahead of the backward has the scale of F, too.
    bool isOfForward = first.kind == ChunkFunctionKind::Forward ||
                       first.kind == ChunkFunctionKind::Recomputation;
    (!isRepeated ? own : isOfForward ? ofForward : ofInput) += cost;
    if (machine)
      byTable += machine->estimate(&op);
    if (!isOfArguments(&op))
      fixed.insert_range(op.getResults());
    for (auto [result, known] :
         llvm::zip_equal(op.getResults(), first.op->getResults()))
      numbers[result] = first.op == &op ? next++ : numbers.lookup(known);
  }
  setResults(func, *signature);
  return {makeWork(own, ofForward, ofInput, traffic), std::max(byTable, 1.0)};
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Rounding may change sums by this much.
static constexpr double rest = 1e-6;

/// Costs are limited, so that sums of them do not overflow.
static constexpr double maxCost = 1e16;

static uint64_t roundUp(double nanoseconds) {
  return static_cast<uint64_t>(
      std::min(std::ceil(nanoseconds - rest), maxCost));
}

static int64_t roundDown(double nanoseconds) {
  return static_cast<int64_t>(std::min(nanoseconds, maxCost));
}

namespace {
/// The work of each function of a chunk.
struct ChunkWork {
  Work forward, recomputation, input, weight, fused;
};
} // namespace

/// The factor for the own work of a function, so that with `repeated` it is
/// `total`. The scaled own work is at least a tenth of `total`: the model may
/// estimate time for repeated work that takes none by the table.
static double getOwnScale(const Work &work, double total, double repeated) {
  return work.own > 0 ? std::max(total - repeated, total / 10) / work.own : 1;
}

/// The scale that turns the model's estimates into the table's times.
static CostScale getTableScale(const Estimate &forward, const Estimate &input,
                               const Estimate &weight) {
  CostScale scale = {1, 1, 1};
  scale[0] = getOwnScale(forward.model, forward.table, 0);
  scale[1] =
      getOwnScale(input.model, input.table, scale[0] * input.model.ofForward);
  scale[2] = getOwnScale(weight.model, weight.table,
                         scale[0] * weight.model.ofForward +
                             scale[1] * weight.model.ofInput);
  return scale;
}

/// Sets the cost of a chunk: its work, scaled.
static void setCost(ChunkOp chunk, const ChunkWork &work) {
  const auto &[forward, recomputation, input, weight, fused] = work;
  CostScale scale = getCostScale(chunk);
  double inputTime = scale[1] * input.own + scale[0] * input.ofForward;
  double weightTime = scale[2] * weight.own + scale[0] * weight.ofForward +
                      scale[1] * weight.ofInput;
  // The fused backward does the own work of B and W, but repeats work only
  // once.
  double own = input.own + weight.own, shared = 0;
  if (fused.total() > 0) {
    double perOwn =
        own > 0 ? (scale[1] * input.own + scale[2] * weight.own) / own : 1;
    shared = inputTime + weightTime -
             (perOwn * fused.own + scale[0] * fused.ofForward);
    shared = std::clamp(shared, 0.0, std::min(inputTime, weightTime));
  }
  MLIRContext *context = chunk.getContext();
  chunk.setCostAttr(CostAttr::get(context, roundUp(scale[0] * forward.total()),
                                  roundUp(inputTime), roundUp(weightTime),
                                  roundUp(std::floor(shared + rest)),
                                  roundUp(scale[0] * recomputation.total())));
  std::array<int64_t, 4> repeated = {roundDown(scale[0] * input.ofForward),
                                     roundDown(scale[0] * weight.ofForward),
                                     roundDown(scale[1] * weight.ofInput),
                                     roundDown(scale[0] * fused.ofForward)};
  if (repeated != std::array<int64_t, 4>{})
    chunk->setAttr(repeatedCostAttrName,
                   DenseI64ArrayAttr::get(context, repeated));
}

/// The bytes touched while a chunk's functions run for one microbatch.
static uint64_t countCycle(ChunkOp chunk, SymbolTableCollection &symbols) {
  auto count = [&](ChunkFunctionKind kind) -> uint64_t {
    func::FuncOp func = getFunction(symbols, chunk, kind);
    return func && !func.isDeclaration() ? getFootprint(func.getBody().front())
                                         : 0;
  };
  using Kind = ChunkFunctionKind;
  return count(Kind::Forward) + count(Kind::Recomputation) +
         std::max(count(Kind::Backward),
                  count(Kind::BackwardInput) + count(Kind::BackwardWeight));
}

static void setChunkCost(ChunkOp chunk, const MachineTable *table,
                         SymbolTableCollection &symbols) {
  if (chunk->hasAttr(costScaleAttrName))
    table = nullptr;
  uint64_t cycle = table ? countCycle(chunk, symbols) : 0;
  ValueNumbers split(table, cycle), whole(table, cycle);
  auto add = [&](ValueNumbers &numbers, ChunkFunctionKind kind) {
    return numbers.add(getFunction(symbols, chunk, kind), kind);
  };
  Estimate forwardWork = add(split, ChunkFunctionKind::Forward);
  Estimate recomputed = add(split, ChunkFunctionKind::Recomputation);
  Estimate inputWork = add(split, ChunkFunctionKind::BackwardInput);
  Estimate weightWork = add(split, ChunkFunctionKind::BackwardWeight);
  add(whole, ChunkFunctionKind::Forward);
  add(whole, ChunkFunctionKind::Recomputation);
  Estimate fusedWork = add(whole, ChunkFunctionKind::Backward);
  // If the backward is not split, the whole backward counts as W.
  if (inputWork.model.total() == 0 && weightWork.model.total() == 0)
    weightWork = fusedWork;
  ChunkWork model = {forwardWork.model, recomputed.model, inputWork.model,
                     weightWork.model, fusedWork.model};
  if (table)
    chunk->setAttr(costScaleAttrName,
                   Builder(chunk.getContext())
                       .getDenseF64ArrayAttr(
                           getTableScale(forwardWork, inputWork, weightWork)));
  setCost(chunk, model);
}

llvm::Expected<std::optional<MachineTable>>
veeline::pipe::getMachineTable(PipelineOp pipeline) {
  auto text = pipeline->getAttrOfType<StringAttr>(machineTableAttrName);
  if (!text)
    return std::nullopt;
  llvm::Expected<MachineTable> table = MachineTable::parse(text.getValue());
  if (!table)
    return table.takeError();
  return std::optional<MachineTable>(std::move(*table));
}

FailureOr<std::optional<MachineTable>>
veeline::pipe::readMachineTable(func::FuncOp model, StringRef path) {
  if (path.empty())
    return std::optional<MachineTable>();
  llvm::Expected<MachineTable> table = MachineTable::read(path);
  if (!table)
    return model.emitError() << "machine table '" << path
                             << "': " << llvm::toString(table.takeError());
  return std::optional<MachineTable>(std::move(*table));
}

void veeline::pipe::setChunkCosts(PipelineOp pipeline,
                                  SymbolTableCollection &symbols) {
  std::optional<MachineTable> table;
  if (auto found = getMachineTable(pipeline))
    table = std::move(*found);
  else
    pipeline.emitWarning() << "attribute '" << machineTableAttrName
                           << "' is left aside: "
                           << llvm::toString(found.takeError());
  for (ChunkOp chunk : pipeline.getChunks())
    if (!chunk.getCost())
      setChunkCost(chunk, table ? &*table : nullptr, symbols);
}
