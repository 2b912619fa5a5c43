//===- CutJoint.cpp - the backward of a joint function, cut ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Activity.h"
#include "JointSums.h"
#include "Partition.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "veeline/Analysis/TensorEmit.h"
#include "veeline/Autodiff/Joint.h"
#include "llvm/ADT/SmallBitVector.h"

#include <algorithm>

using namespace mlir;
using namespace veeline;
using namespace veeline::autodiff;
using llvm::SmallBitVector;

namespace {

class JointCutter {
public:
  JointCutter(func::FuncOp joint, ArrayRef<JointChunk> chunks,
              ArrayRef<JointGradient> gradients)
      : block(joint.getBody().front()), chunks(chunks), gradients(gradients),
        parts(chunks.size()), messages(chunks.size() + 1),
        received(chunks.size()) {}

  LogicalResult run();
  SmallVector<JointCut::Part> takeParts() { return std::move(parts); }

private:
  void findForward();
  void findPlaces();
  SmallBitVector findPlace(Operation &op);
  LogicalResult splitParameterSums();
  void splitActivationSums();
  SmallVector<Value> findCandidates();
  bool splitSumOf(Value activation, unsigned producer, Value sum);
  int getDemand(Value value) const;
  void findNeeded();
  LogicalResult findMessages(unsigned chunk);
  LogicalResult extract(unsigned chunk);
  LogicalResult visit(unsigned chunk, Value value,
                      llvm::SetVector<Operation *> &ops);
  LogicalResult send(unsigned chunk, Value value);
  bool obtain(unsigned chunk, Value value);

  unsigned numChunks() const { return chunks.size(); }
  bool isBackward(Operation *op) const { return op && !forward.contains(op); }
  /// Whether `value` is not a sum of the backward, or one that is split
  /// already.
  bool isNoSum(Value value) const {
    return !isBackward(value.getDefiningOp()) || sums.contains(value);
  }
  bool isSide(Value value) const {
    Operation *op = value.getDefiningOp();
    return !op || (forward.contains(op) && !chunkOf.contains(op));
  }
  unsigned getLatest(Value value) const { return places.at(value).find_last(); }
  bool isBelow(Value value, unsigned chunk) const {
    return places.at(value).find_first() < static_cast<int>(chunk);
  }
  std::optional<int64_t> getMovePrice(Operation *op, unsigned chunk) const;
  bool isSendable(Value value, unsigned chunk) const;
  SmallVector<Value> getUsed(Operation &op) const;

  Block &block;
  ArrayRef<JointChunk> chunks;
  ArrayRef<JointGradient> gradients;
  SmallVector<JointCut::Part> parts;
  /// `forward` has the ops on which the results of the model depend. `chunkOf`
  /// has the chunk of each op that only one chunk runs. `takers` has the chunks
  /// that take a value as an operand.
  DenseSet<Operation *> forward;
  llvm::DenseMap<Operation *, unsigned> chunkOf;
  llvm::DenseMap<Value, SmallBitVector> takers;
  /// The chunks that have a value without a message. Each value has at least
  /// one: the chunk that first computes it.
  llvm::DenseMap<Value, SmallBitVector> places;
  /// The sums that are split by chunk, each with the value whose gradient it
  /// is; and these values.
  llvm::MapVector<Value, Value> sums;
  DenseSet<Value> summed;
  /// The ops of the backward on which some gradient depends; and of these, the
  /// ops that run in the chunk that is being examined, or in earlier ones.
  DenseSet<Operation *> needed, current;
  /// For each chunk, the values that it or a later chunk sends to an earlier
  /// one, and those values from later chunks that it takes itself.
  SmallVector<llvm::SetVector<Value>> messages, received;
};

} // namespace

/// The values of the block that `op` uses.
SmallVector<Value> JointCutter::getUsed(Operation &op) const {
  SmallVector<Value> used = getAllOperands(op);
  llvm::erase_if(used, [&](Value v) { return v.getParentBlock() != &block; });
  return used;
}

/// The number of the last bit of `bits` up to `limit`, or -1.
static int findLastUpTo(const SmallBitVector &bits, unsigned limit) {
  return limit + 1 < bits.size() ? bits.find_prev(limit + 1) : bits.find_last();
}

static bool isFloatTensor(Type type) {
  return isa<RankedTensorType>(type) && isDifferentiableType(type);
}

/// Whether a message of type `type` can carry `value`, perhaps reshaped. Only
/// tensors of floats can be sent.
static bool canCarry(Type type, Value value) {
  auto sent = dyn_cast<RankedTensorType>(value.getType());
  auto carrier = dyn_cast<RankedTensorType>(type);
  return sent && carrier && isFloatTensor(sent) &&
         sent.getElementType() == carrier.getElementType() &&
         sent.getNumElements() == carrier.getNumElements();
}

/// Reshapes `value`, a tensor of static shape, to `type`.
static Value reshape(OpBuilder &builder, Value value, Type type) {
  auto from = cast<RankedTensorType>(value.getType());
  auto to = cast<RankedTensorType>(type);
  if (from == to)
    return value;
  if (auto groups = getReassociationIndicesForReshape(from, to)) {
    if (from.getRank() > to.getRank())
      return tensor::CollapseShapeOp::create(builder, value.getLoc(), to, value,
                                             *groups);
    return tensor::ExpandShapeOp::create(builder, value.getLoc(), to, value,
                                         *groups);
  }
  auto flat =
      RankedTensorType::get({from.getNumElements()}, from.getElementType());
  return reshape(builder, reshape(builder, value, flat), to);
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

void JointCutter::findForward() {
  SmallVector<Value> results;
  for (auto [i, chunk] : llvm::enumerate(chunks)) {
    llvm::append_range(results, chunk.results);
    for (Operation *op : chunk.ops)
      chunkOf[op] = i;
    for (Value operand : chunk.operands)
      takers.try_emplace(operand, SmallBitVector(numChunks()))
          .first->second.set(i);
  }
  for (Operation *op : getBackwardSlice(results))
    forward.insert(op);
}

/// Finds the chunks that can run `op`, if later chunks send gradients to them.
/// Of chunks that lack some of its operands, only the latest is returned.
SmallBitVector JointCutter::findPlace(Operation &op) {
  SmallBitVector here(numChunks(), true);
  SmallVector<Value> used = getUsed(op);
  unsigned latest = numChunks() - 1;
  for (Value value : used) {
    here &= places.at(value);
    latest = std::min(latest, getLatest(value));
  }
  if (here.any())
    return here;
  here.reset();
  for (int chunk = latest; chunk >= 0; --chunk)
    if (llvm::all_of(used, [&](Value value) {
          return !isSide(value) || places.at(value)[chunk];
        })) {
      here.set(chunk);
      return here;
    }
  here.set(latest);
  return here;
}

void JointCutter::findPlaces() {
  places.clear();
  SmallBitVector all(numChunks(), true);
  for (Value argument : block.getArguments())
    places[argument] = all;
  // The chunks that use a parameter in the forward have it.
  for (const JointGradient &gradient : gradients)
    if (SmallBitVector users = takers.lookup(gradient.argument); users.any())
      places[gradient.argument] = users;
  for (Operation &op : block.without_terminator()) {
    bool isMain = chunkOf.contains(&op);
    SmallBitVector here(numChunks());
    if (isMain)
      here.set(chunkOf.lookup(&op));
    else
      here = findPlace(op);
    for (Value result : op.getResults()) {
      places[result] = here;
      if (isMain && takers.contains(result))
        places[result] |= takers.lookup(result);
      if (auto sum = sums.find(result); sum != sums.end()) {
        places[result].reset();
        places[result].set(chunkOf.lookup(sum->second.getDefiningOp()));
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

static bool isZero(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs().front();
  return matchPattern(value, m_AnyZeroFloat());
}

/// Gives each chunk that uses a parameter its own part of the gradient. If the
/// forward does not use the parameter, the parts belong to the chunks that
/// compute them. If there are as many terms as chunks that use it, the first
/// term belongs to the last of these chunks.
LogicalResult JointCutter::splitParameterSums() {
  auto isWhole = [&](Value value) { return isNoSum(value); };
  for (const JointGradient &gradient : gradients) {
    SmallBitVector users = takers.lookup(gradient.argument);
    if (users.empty() && isZero(gradient.gradient))
      continue;
    auto getChunk = [&](Value term) -> unsigned {
      unsigned latest = getLatest(term);
      if (users.empty())
        return latest;
      int chunk = findLastUpTo(users, latest);
      return chunk < 0 ? latest : chunk;
    };
    SmallVector<Value> values = getTerms(gradient.gradient, isWhole);
    for (Value value : values)
      if (users.any() && findLastUpTo(users, getLatest(value)) < 0)
        return emitError(value.getLoc())
               << "this part of a parameter's gradient is computed in chunk "
               << getLatest(value)
               << ", but no chunk up to there uses the parameter; cut "
                  "elsewhere (--partition, pipe.boundary)";
    SmallVector<Term> terms;
    int user = users.find_last();
    for (Value value : values) {
      if (values.size() != users.count() ||
          static_cast<int>(getLatest(value)) < user)
        break;
      terms.push_back({value, static_cast<unsigned>(user)});
      user = users.find_prev(user);
    }
    if (terms.size() != values.size())
      terms = getTermsByChunk(gradient.gradient, isWhole, getChunk);
    for (auto [chunk, sum] : addUpByChunk(terms)) {
      parts[chunk].given[gradient.argument] = sum;
      if (users.empty())
        parts[chunk].missing.push_back(gradient.argument);
    }
  }
  return success();
}

/// The latest chunk that needs `value` for an op that can run nowhere else, or
/// -1.
int JointCutter::getDemand(Value value) const {
  int demand = -1;
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i != values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      Operation *op = block.findAncestorOpInBlock(*user);
      if (op == block.getTerminator())
        continue;
      int bound = numChunks();
      for (Value used : getUsed(*op))
        if (!isBackward(used.getDefiningOp()) && !places.at(used).all())
          bound = std::min<int>(bound, getLatest(used));
      if (bound == static_cast<int>(numChunks()))
        values.insert_range(op->getResults());
      else
        demand = std::max(demand, bound);
    }
  return demand;
}

/// Splits `sum` by chunk if it can be the gradient of `activation`. Returns
/// whether it does.
bool JointCutter::splitSumOf(Value activation, unsigned producer, Value sum) {
  const SmallBitVector &users = takers.at(activation);
  bool isApart = true;
  SmallVector<Term> terms = getTermsByChunk(
      sum, [&](Value value) { return isNoSum(value); },
      [&](Value term) -> unsigned {
        int chunk = findLastUpTo(users, getLatest(term));
        isApart &= chunk >= 0;
        return std::max(chunk, 0);
      });
  if (!isApart || terms.size() < 2)
    return false;
  // Only an update needs the gradient of a parameter.
  int demand = getDemand(sum);
  if (demand < 0 || demand > static_cast<int>(producer))
    return false;
  for (auto [chunk, part] : addUpByChunk(terms))
    parts[chunk].given[activation] = part;
  sums[sum] = activation;
  summed.insert(activation);
  parts[producer].received[activation] = sum;
  return true;
}

/// Splits the gradients of values that several chunks use: the runtime adds up
/// what these chunks send.
void JointCutter::splitActivationSums() {
  SmallVector<Value> candidates = findCandidates();
  for (unsigned producer = numChunks(); producer-- != 0;)
    for (Value result : llvm::reverse(chunks[producer].results)) {
      if (!isFloatTensor(result.getType()) || takers.lookup(result).count() < 2)
        continue;
      for (Value candidate : candidates)
        if (candidate.getType() == result.getType() &&
            splitSumOf(result, producer, candidate)) {
          findPlaces();
          candidates = findCandidates();
          break;
        }
    }
}

/// The sums of the backward to which several chunks may contribute, the last
/// one first.
SmallVector<Value> JointCutter::findCandidates() {
  DenseSet<Value> ofChunks = findSumsOfChunks(
      block, [&](Value value) { return isNoSum(value); },
      [&](Value term) { return getLatest(term); });
  SmallVector<Value> candidates;
  for (Operation &op : llvm::reverse(block.without_terminator()))
    if (op.getNumResults() == 1 && ofChunks.contains(op.getResult(0)))
      candidates.push_back(op.getResult(0));
  return candidates;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

void JointCutter::findNeeded() {
  llvm::SetVector<Value> values;
  for (const JointCut::Part &part : parts)
    for (const auto &given : part.given)
      values.insert(given.second);
  for (size_t i = 0; i != values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (isBackward(op) && !sums.contains(values[i]) && needed.insert(op).second)
      values.insert_range(getUsed(*op));
  }
  current = needed;
}

/// The price of running `op` in a chunk before `chunk`. It is 0 if the op uses
/// only gradients and values that the earlier chunks have. For any other op of
/// the backward it is so high that the op runs there only if nothing else can
/// be sent.
std::optional<int64_t> JointCutter::getMovePrice(Operation *op,
                                                 unsigned chunk) const {
  constexpr int64_t reluctance = int64_t(1) << 44;
  if (chunkOf.contains(op) ||
      llvm::any_of(op->getResults(), [&](Value v) { return sums.contains(v); }))
    return std::nullopt;
  if (!isBackward(op))
    return 0;
  bool isFree = llvm::all_of(getUsed(*op), [&](Value value) {
    return isBackward(value.getDefiningOp()) || isBelow(value, chunk);
  });
  return isFree ? 0 : reluctance;
}

/// Whether `chunk` has `value` and can send it to an earlier chunk. For that,
/// the forward has to send as many elements the other way.
bool JointCutter::isSendable(Value value, unsigned chunk) const {
  if (!messages[chunk + 1].contains(value) &&
      !(isBackward(value.getDefiningOp())
            ? current.contains(value.getDefiningOp())
            : places.at(value)[chunk]))
    return false;
  for (const JointChunk &earlier : chunks.take_front(chunk))
    for (Value result : earlier.results)
      if (canCarry(result.getType(), value) &&
          takers.lookup(result).find_last() >= static_cast<int>(chunk))
        return true;
  return false;
}

/// Finds the values that `chunk` and later chunks send to earlier ones. This is
/// a minimum cut.
LogicalResult JointCutter::findMessages(unsigned chunk) {
  SmallVector<Value> targets;
  for (const JointCut::Part &part : ArrayRef(parts).take_front(chunk))
    for (const auto &given : part.given)
      targets.push_back(given.second);
  llvm::sort(targets, [](Value a, Value b) {
    Operation *first = a.getDefiningOp(), *second = b.getDefiningOp();
    return first && second ? first->isBeforeInBlock(second) : !first && second;
  });
  Partition partition = choosePartition(
      {targets,
       [&](Operation *op) {
         return needed.contains(op) && getLatest(op->getResult(0)) < chunk;
       },
       [&](Value value) -> std::optional<int64_t> {
         if (isBelow(value, chunk))
           return 0;
         if (!isSendable(value, chunk))
           return std::nullopt;
         return getNumBytes(value.getType()) * pricePerByte;
       },
       [&](Operation *op) { return getMovePrice(op, chunk); }});
  for (Value value : partition.kept) {
    if (isBelow(value, chunk))
      continue;
    if (isSendable(value, chunk)) {
      messages[chunk].insert(value);
      continue;
    }
    InFlightDiagnostic diagnostic = emitError(value.getLoc());
    diagnostic
        << "the backward of chunk " << chunk << " or a later one, '"
        << chunks[chunk].name << "', would send a value of type "
        << value.getType()
        << " to an earlier one, but the forward sends nothing of this size "
           "the other way; cut elsewhere (--partition, pipe.boundary)";
    return diagnostic;
  }
  current.clear();
  current.insert(partition.ops.begin(), partition.ops.end());
  return success();
}

/// Collects the op that computes `value` in `chunk`, or the message or operand
/// that brings it.
LogicalResult JointCutter::visit(unsigned chunk, Value value,
                                 llvm::SetVector<Operation *> &ops) {
  Operation *op = value.getDefiningOp();
  if (llvm::is_contained(chunks[chunk].operands, value))
    return success();
  if (messages[chunk + 1].contains(value)) {
    received[chunk].insert(value);
    return success();
  }
  if (!op) {
    if (!llvm::is_contained(parts[chunk].missing, value))
      parts[chunk].missing.push_back(value);
    return success();
  }
  if (auto sum = sums.find(value);
      sum != sums.end() && chunkOf.lookup(sum->second.getDefiningOp()) == chunk)
    return success();
  if (chunkOf.contains(op) ? chunkOf.lookup(op) == chunk
                           : !sums.contains(value)) {
    ops.insert(op);
    return success();
  }
  InFlightDiagnostic diagnostic = emitError(value.getLoc());
  diagnostic << "the backward of chunk " << chunk << ", '" << chunks[chunk].name
             << "', uses this value of "
             << (sums.contains(value) ? "the backward" : "the forward")
             << " of another chunk; cut elsewhere (--partition, pipe.boundary)";
  return diagnostic;
}

/// Finds all ops of `chunk`, forward and backward.
LogicalResult JointCutter::extract(unsigned chunk) {
  llvm::SetVector<Operation *> ops(chunks[chunk].ops.begin(),
                                   chunks[chunk].ops.end());
  SmallVector<Value> outputs(chunks[chunk].results);
  for (const auto &given : parts[chunk].given)
    outputs.push_back(given.second);
  for (Value message : messages[chunk])
    if (!messages[chunk + 1].contains(message))
      outputs.push_back(message);
  for (Value output : outputs)
    if (failed(visit(chunk, output, ops)))
      return failure();
  // The list grows during this loop.
  for (size_t i = 0; i != ops.size(); ++i)
    for (Value used : getUsed(*ops[i]))
      if (failed(visit(chunk, used, ops)))
        return failure();
  parts[chunk].ops = ops.takeVector();
  llvm::sort(parts[chunk].ops,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return success();
}

/// Finds a way for `value` to `chunk`, from the chunk that computes it,
/// directly or by way of others. On each part of the way, it is sent in place
/// of the gradient of a value of the forward.
bool JointCutter::obtain(unsigned chunk, Value value) {
  if (!messages[chunk + 1].contains(value) ||
      llvm::any_of(parts[chunk].received,
                   [&](const auto &entry) { return entry.second == value; }))
    return true;
  // Prefer a value of the same type.
  SmallVector<Value> carriers(chunks[chunk].results);
  std::stable_partition(carriers.begin(), carriers.end(), [&](Value carrier) {
    return carrier.getType() == value.getType();
  });
  for (bool isDirect : {true, false})
    for (Value result : carriers) {
      if (!canCarry(result.getType(), value) || summed.contains(result) ||
          parts[chunk].received.contains(result))
        continue;
      SmallBitVector users = takers.lookup(result);
      for (unsigned sender : users.set_bits()) {
        bool holds = !messages[sender + 1].contains(value) &&
                     messages[sender].contains(value);
        if (sender <= chunk || !messages[sender].contains(value) ||
            (isDirect ? !holds : !obtain(sender, value)))
          continue;
        parts[chunk].received[result] = value;
        parts[sender].given[result] = value;
        return true;
      }
    }
  return false;
}

LogicalResult JointCutter::send(unsigned chunk, Value value) {
  if (obtain(chunk, value))
    return success();
  unsigned sender = chunk + 1;
  while (messages[sender + 1].contains(value))
    ++sender;
  InFlightDiagnostic diagnostic = emitError(value.getLoc());
  diagnostic << "the backward of chunk " << sender << ", '"
             << chunks[sender].name << "', would send this value to chunk "
             << chunk << ", '" << chunks[chunk].name
             << "', in place of the gradient of a value of the size of a "
             << value.getType()
             << " that the forward sends the other way, and there are not "
                "enough of these; cut elsewhere (--partition, pipe.boundary)";
  return diagnostic;
}

LogicalResult JointCutter::run() {
  findForward();
  findPlaces();
  splitActivationSums();
  if (failed(splitParameterSums()))
    return failure();
  findPlaces();
  findNeeded();
  for (unsigned chunk = numChunks() - 1; chunk > 0; --chunk)
    if (failed(findMessages(chunk)))
      return failure();
  for (unsigned chunk = 0; chunk != numChunks(); ++chunk)
    if (failed(extract(chunk)))
      return failure();
  for (unsigned chunk = numChunks(); chunk-- != 0;)
    for (Value value : received[chunk])
      if (failed(send(chunk, value)))
        return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// JointCut
//===----------------------------------------------------------------------===//

FailureOr<JointCut> JointCut::make(func::FuncOp joint,
                                   ArrayRef<JointChunk> chunks,
                                   ArrayRef<JointGradient> gradients) {
  JointCutter cutter(joint, chunks, gradients);
  if (failed(cutter.run()))
    return failure();
  JointCut cut;
  cut.chunks.assign(chunks.begin(), chunks.end());
  cut.parts = cutter.takeParts();
  return cut;
}

OwningOpRef<func::FuncOp>
JointCut::build(unsigned chunk, ArrayRef<Value> operands,
                function_ref<bool(Value)> isWanted) const {
  const Part &part = parts[chunk];
  Location loc =
      operands.empty()
          ? UnknownLoc::get(chunks[chunk].results.front().getContext())
          : operands.front().getLoc();
  SmallVector<Value> seeded;
  for (Value result : chunks[chunk].results) {
    bool isUsed = llvm::any_of(
        ArrayRef(chunks).drop_front(chunk + 1), [&](const JointChunk &later) {
          return llvm::is_contained(later.operands, result);
        });
    if (isUsed && isFloatTensor(result.getType()))
      seeded.push_back(result);
  }
  auto types =
      llvm::map_to_vector(operands, [](Value v) { return v.getType(); });
  for (Value result : seeded)
    types.push_back(result.getType());
  OwningOpRef<func::FuncOp> func =
      func::FuncOp::create(loc, chunks[chunk].name + "_joint",
                           FunctionType::get(loc.getContext(), types, {}));
  func->setPrivate();
  Block *body = func->addEntryBlock();
  auto builder = OpBuilder::atBlockEnd(body);
  IRMapping mapping;
  mapping.map(operands, body->getArguments().take_front(operands.size()));
  for (auto [result, seed] : llvm::zip_equal(
           seeded, body->getArguments().drop_front(operands.size())))
    if (Value value = part.received.lookup(result))
      mapping.map(value, reshape(builder, seed, value.getType()));
  for (Operation *op : part.ops)
    builder.clone(*op, mapping);
  SmallVector<Value> results;
  for (Value result : chunks[chunk].results)
    results.push_back(mapping.lookup(result));
  for (Value operand : operands) {
    bool isEdge = operand.getDefiningOp() && isFloatTensor(operand.getType());
    if (!isEdge && !isWanted(operand))
      continue;
    Value gradient = part.given.lookup(operand);
    results.push_back(
        gradient ? reshape(builder, mapping.lookup(gradient), operand.getType())
                 : createZeros(builder, loc,
                               cast<RankedTensorType>(operand.getType())));
  }
  func::ReturnOp::create(builder, loc, results);
  func->setType(FunctionType::get(loc.getContext(), types,
                                  TypeRange(ValueRange(results))));
  return func;
}
