//===- ProgramBuilder.cpp - from schedules to programs --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Dialect/Pipe/Transforms/ProgramBuilder.h"

#include "PipelineTables.h"
#include "PlaceValidations.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "veeline/Dialect/Pipe/IR/ChunkFunction.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"

#include "llvm/ADT/SetVector.h"

#include <map>
#include <tuple>

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

namespace {

/// The late backwards of all ranks, by chunk and microbatch.
using LateBackwards = llvm::DenseSet<std::pair<int64_t, int64_t>>;

/// Writes the program of one rank.
class ProgramWriter {
public:
  ProgramWriter(PipelineTables &tables, const LateBackwards &lateBackwards,
                ProgramOp program)
      : tables(tables), lateBackwards(lateBackwards), stage(program.getStage()),
        replica(program.getReplica()), loc(program.getLoc()),
        builder(OpBuilder::atBlockEnd(&program.getBody().front())) {}

  LogicalResult addWork(const schedule::Op &op, double begin, double end);
  /// Adds the late update of a parameter. If another rank updates it, adds the
  /// gradients for that.
  void addLateUpdate(unsigned param) {
    updatedLate.insert(param);
    SmallVector<Value> gradients = addGradients(param, /*late=*/true);
    if (isHome(param))
      addUpdate(param, gradients, /*factor=*/{}, /*late=*/true);
  }
  /// Adds the update of a parameter that only this rank uses, after all of its
  /// chunks' ops.
  void addCompleteUpdate(unsigned param) {
    updated.insert(param);
    addUpdate(param, addGradients(param, /*late=*/false), /*factor=*/{},
              /*late=*/false);
  }
  /// Adds the updates of one microbatch, whose backward was added last.
  void addUpdatesOf(const schedule::Op &op);
  void addUpdates();
  /// Adds the copy of what the last F keeps to the host's memory.
  LogicalResult addOffload(const schedule::Op &op);
  /// Add the wait until an offloaded value has left, the copy back, and the
  /// wait for that copy.
  void addRelease(const schedule::Offload &offload);
  void addReload(const schedule::Offload &offload);
  void addRestore(const schedule::Op &op);
  /// Passes the values that late ops take to the next turn.
  void addCarry();

private:
  /// Identifies a value: chunk, microbatch, role and index.
  using Key = std::tuple<int, int, int, unsigned>;
  static Key key(const schedule::Op &op, RoleKind kind, unsigned index) {
    return {op.chunk, op.microbatch, static_cast<int>(kind), index};
  }

  bool isHere(int64_t chunk) const {
    return tables.pipeline.getStageOf(chunk) == stage;
  }
  bool isHome(unsigned param) const { return tables.getHome(param) == stage; }
  Value getEdgeValue(int64_t edge, Direction direction, int64_t microbatch,
                     bool late = false);
  Value getCarried(const schedule::Op &op, const ChunkValue &value,
                   std::optional<int64_t> edge = std::nullopt);
  Value getLateResultGradient(const schedule::Op &op, const ChunkValue &value);
  Value getOperand(const schedule::Op &op, unsigned operand);
  Value getResultGradient(const schedule::Op &op, unsigned result);
  Value getArgument(const schedule::Op &op, const ChunkValue &value);
  Value *findKept(const schedule::Op &op, const ChunkValue &value);
  FailureOr<SmallVector<Value>> getOperands(const schedule::Op &op);
  SmallVector<Value> addGradients(unsigned param, bool late);
  SmallVector<unsigned> getUpdatedAtEnd() const;
  void validateOnce();
  Value addFactor(ArrayRef<unsigned> updated,
                  ArrayRef<SmallVector<Value>> gradients);
  void addUpdate(unsigned param, ValueRange gradients, Value factor, bool late);
  void addAssignment(unsigned param, bool late);

  /// The origin of an argument of the program in the step before: a value of an
  /// op, or a gradient for it that another stage sends over `edge`.
  struct Source {
    schedule::Op op;
    ChunkValue value;
    std::optional<int64_t> edge;
  };

  PipelineTables &tables;
  const LateBackwards &lateBackwards;
  int64_t stage, replica;
  Location loc;
  OpBuilder builder;
  std::map<Key, Value> values;
  std::map<std::tuple<int64_t, Direction, int64_t>, Value> edgeValues;
  /// The origins of the arguments of the program.
  SmallVector<Source> carried;
  /// Values that are offloaded, by chunk and microbatch: where the writer keeps
  /// them, and the values themselves, which are copies while they are away.
  struct Away {
    SmallVector<Value *> places;
    SmallVector<Value> originals, copies;
  };
  std::map<std::pair<int, int>, Away> away;
  llvm::SetVector<unsigned> updatedLate;
  /// Parameters updated in time, before the end of the step.
  llvm::DenseSet<unsigned> updated;
  /// Whether the last step's updates are validated.
  bool isValidated = false;
};

} // namespace

Value ProgramWriter::getEdgeValue(int64_t edge, Direction direction,
                                  int64_t microbatch, bool late) {
  Value &value = edgeValues[{edge, direction, microbatch}];
  if (!value)
    value = EdgeValueOp::create(builder, loc, tables.edges[edge].type, edge,
                                direction, microbatch, late);
  return value;
}

/// Adds an argument of the program for a value of the step before, which `op`,
/// `value` and `edge` describe.
Value ProgramWriter::getCarried(const schedule::Op &op, const ChunkValue &value,
                                std::optional<int64_t> edge) {
  carried.push_back({op, value, edge});
  carried.back().op.late = false;
  return builder.getBlock()->addArgument(value.type, loc);
}

/// Like `getResultGradient`, for a late backward. Gradients that backwards in
/// time have sent are carried.
Value ProgramWriter::getLateResultGradient(const schedule::Op &op,
                                           const ChunkValue &value) {
  Value sum;
  for (int64_t number :
       llvm::reverse(tables.edges.getOutgoing(op.chunk, value.index))) {
    const Edge &edge = tables.edges[number];
    Value gradient =
        lateBackwards.contains({edge.consumer, op.microbatch})
            ? getEdgeValue(number, Direction::Gradient, op.microbatch,
                           /*late=*/true)
            : getCarried(op, value, number);
    sum = sum ? AddOp::create(builder, loc, sum.getType(), sum, gradient)
                    .getResult()
              : gradient;
  }
  return sum;
}

Value ProgramWriter::getOperand(const schedule::Op &op, unsigned operand) {
  std::optional<int64_t> number = tables.edges.getIncoming(op.chunk, operand);
  if (!number)
    return {};
  const Edge &edge = tables.edges[*number];
  if (!isHere(edge.producer))
    return getEdgeValue(*number, Direction::Activation, op.microbatch);
  schedule::Op producer = op;
  producer.chunk = edge.producer;
  return values[key(producer, RoleKind::Result, *edge.result)];
}

/// The sum of the gradients of a result over its consumers, in descending
/// order.
Value ProgramWriter::getResultGradient(const schedule::Op &op,
                                       unsigned result) {
  Value &sum = values[key(op, RoleKind::ResultGrad, result)];
  if (sum)
    return sum;
  for (int64_t number :
       llvm::reverse(tables.edges.getOutgoing(op.chunk, result))) {
    const Edge &edge = tables.edges[number];
    Value gradient;
    if (isHere(edge.consumer)) {
      schedule::Op consumer = op;
      consumer.chunk = edge.consumer;
      gradient = values[key(consumer, RoleKind::OperandGrad, edge.operand)];
    } else {
      gradient = getEdgeValue(number, Direction::Gradient, op.microbatch);
    }
    if (!gradient)
      return {};
    sum = sum ? AddOp::create(builder, loc, sum.getType(), sum, gradient)
                    .getResult()
              : gradient;
  }
  return sum;
}

Value ProgramWriter::getArgument(const schedule::Op &op,
                                 const ChunkValue &value) {
  if (value.kind == RoleKind::Operand)
    return getOperand(op, value.index);
  if (value.kind == RoleKind::ResultGrad)
    return getResultGradient(op, value.index);
  return values[key(op, value.kind, value.index)];
}

/// The operands of `op`'s function. If it is late, these may be arguments of
/// the program.
FailureOr<SmallVector<Value>>
ProgramWriter::getOperands(const schedule::Op &op) {
  ChunkFunctionKind kind = getFunctionKind(op.kind);
  SmallVector<Value> operands;
  for (const ChunkValue &value : tables.get(op.chunk, kind).arguments) {
    Value operand;
    bool isSum = value.kind == RoleKind::ResultGrad &&
                 kind == ChunkFunctionKind::Backward;
    if (!op.late)
      operand = getArgument(op, value);
    else if (isSum)
      operand = getLateResultGradient(op, value);
    else
      operand = getCarried(op, value);
    if (!operand)
      return tables.chunks[op.chunk].emitOpError()
             << getName(kind) << " takes " << stringifyRoleKind(value.kind)
             << ' ' << value.index << ", which nothing gives";
    operands.push_back(operand);
  }
  return operands;
}

LogicalResult ProgramWriter::addWork(const schedule::Op &op, double begin,
                                     double end) {
  ChunkOp chunk = tables.chunks[op.chunk];
  if (!hasFunction(chunk, op.kind))
    return success();
  bool addsToGradients = op.kind == schedule::OpKind::Backward ||
                         op.kind == schedule::OpKind::BackwardWeight;
  if (addsToGradients && !op.late)
    validateOnce();
  const Carried &carried = tables.get(op.chunk, getFunctionKind(op.kind));
  FailureOr<SmallVector<Value>> operands = getOperands(op);
  if (failed(operands))
    return failure();
  SmallVector<Type> types =
      llvm::map_to_vector(carried.results, [](const ChunkValue &value) -> Type {
        return value.type;
      });
  std::string name = (PipeDialect::getDialectNamespace() + "." +
                      getName(getFunctionKind(op.kind)))
                         .str();
  OperationState state(chunk.getLoc(), name);
  state.addOperands(*operands);
  state.addTypes(types);
  state.addAttribute("chunk", builder.getI64IntegerAttr(op.chunk));
  state.addAttribute("microbatch", builder.getI64IntegerAttr(op.microbatch));
  state.addAttribute(predictedAttrName,
                     builder.getDenseF64ArrayAttr({begin, end}));
  if (op.late)
    state.addAttribute("late", builder.getUnitAttr());
  Operation *created = builder.create(state);
  for (auto [value, result] :
       llvm::zip_equal(carried.results, created->getResults()))
    values[key(op, value.kind, value.index)] = result;
  return success();
}

/// The place of a value that exists after F. Null if it does not.
Value *ProgramWriter::findKept(const schedule::Op &op,
                               const ChunkValue &value) {
  if (value.kind == RoleKind::Residual || value.kind == RoleKind::Result)
    return &values[key(op, value.kind, value.index)];
  if (value.kind != RoleKind::Operand || !getOperand(op, value.index))
    return nullptr;
  int64_t number = *tables.edges.getIncoming(op.chunk, value.index);
  const Edge &edge = tables.edges[number];
  if (!isHere(edge.producer))
    return &edgeValues[{number, Direction::Activation, op.microbatch}];
  schedule::Op producer = op;
  producer.chunk = edge.producer;
  return &values[key(producer, RoleKind::Result, *edge.result)];
}

LogicalResult ProgramWriter::addOffload(const schedule::Op &op) {
  ChunkOp chunk = tables.chunks[op.chunk];
  llvm::SmallSetVector<Value *, 8> places;
  for (ChunkFunctionKind kind :
       {ChunkFunctionKind::Backward, ChunkFunctionKind::BackwardInput,
        ChunkFunctionKind::BackwardWeight, ChunkFunctionKind::Recomputation})
    if (getFunctionName(chunk, kind))
      for (const ChunkValue &value : tables.get(op.chunk, kind).arguments)
        if (Value *place = findKept(op, value); place && *place)
          places.insert(place);
  if (places.empty())
    return chunk.emitOpError("keeps nothing that could be offloaded");
  Away &it = away[{op.chunk, op.microbatch}];
  it.places.assign(places.begin(), places.end());
  for (Value *place : places)
    it.originals.push_back(*place);
  auto offload = OffloadOp::create(builder, loc, TypeRange(it.originals),
                                   op.chunk, op.microbatch, it.originals);
  it.copies.assign(offload.getCopies().begin(), offload.getCopies().end());
  return success();
}

void ProgramWriter::addRelease(const schedule::Offload &offload) {
  Away &it = away[{offload.chunk, offload.microbatch}];
  ReleaseOp::create(builder, loc, offload.chunk, offload.microbatch,
                    it.originals);
}

void ProgramWriter::addReload(const schedule::Offload &offload) {
  Away &it = away[{offload.chunk, offload.microbatch}];
  auto reload = ReloadOp::create(builder, loc, TypeRange(it.copies),
                                 offload.chunk, offload.microbatch, it.copies);
  it.copies.assign(reload.getCopies().begin(), reload.getCopies().end());
}

/// From here on, the values that have come back are used.
void ProgramWriter::addRestore(const schedule::Op &op) {
  auto found = away.find({op.chunk, op.microbatch});
  if (found == away.end())
    return;
  Away &it = found->second;
  auto restore = RestoreOp::create(builder, loc, TypeRange(it.copies), op.chunk,
                                   op.microbatch, it.copies);
  for (auto [place, value] : llvm::zip_equal(it.places, restore.getCopies()))
    *place = value;
  away.erase(found);
}

void ProgramWriter::addCarry() {
  SmallVector<Value> values;
  for (const Source &source : carried)
    values.push_back(source.edge
                         ? getEdgeValue(*source.edge, Direction::Gradient,
                                        source.op.microbatch)
                         : getArgument(source.op, source.value));
  if (!values.empty())
    CarryOp::create(builder, loc, values);
}

/// Adds the validation as late as possible, because the norms of the last step
/// arrive in the meantime.
void ProgramWriter::validateOnce() {
  bool isOptimistic = tables.pipeline.getClipSync() == ClipSync::Optimistic;
  if (isOptimistic && !std::exchange(isValidated, true))
    ValidateOp::create(builder, loc);
}

/// The parameters that change at the end of the step.
SmallVector<unsigned> ProgramWriter::getUpdatedAtEnd() const {
  SmallVector<unsigned> atEnd;
  for (unsigned param = 0, e = tables.params.size(); param != e; ++param)
    if (!tables.getGradientUsers(param).empty() &&
        !updatedLate.contains(param) && !updated.contains(param))
      atEnd.push_back(param);
  return atEnd;
}

void ProgramWriter::addUpdatesOf(const schedule::Op &op) {
  IntegerAttr microbatch = builder.getI64IntegerAttr(op.microbatch);
  for (unsigned param = 0, e = tables.params.size(); param != e; ++param) {
    if (tables.getGradientUsers(param).empty() || !isHome(param))
      continue;
    Type type = tables.params[param].getValue().getType();
    Value gradient = GradientOp::create(builder, loc, type, param, op.chunk,
                                        op.late, microbatch);
    UpdateOp::create(builder, loc, type, param, gradient, /*factor=*/Value(),
                     op.late, microbatch);
  }
}

/// Adds first the gradients that other ranks sum, so that these do not wait for
/// a new value; then, for each parameter, its update or assignment. If updates
/// need the norm of all gradients, it is computed between the two.
void ProgramWriter::addUpdates() {
  if (tables.pipeline.getAsynchronous()) {
    for (unsigned param : updatedLate)
      if (!isHome(param))
        addAssignment(param, /*late=*/true);
    return;
  }
  validateOnce();
  for (unsigned param = 0, e = tables.params.size(); param != e; ++param)
    if (!isHome(param))
      addGradients(param, /*late=*/false);
  SmallVector<unsigned> atHome, atEnd = getUpdatedAtEnd();
  llvm::copy_if(atEnd, std::back_inserter(atHome),
                [&](unsigned param) { return isHome(param); });
  SmallVector<SmallVector<Value>> gradients;
  Value factor;
  if (tables.pipeline.getClipSync() == ClipSync::Barrier) {
    for (unsigned param : atHome)
      gradients.push_back(addGradients(param, /*late=*/false));
    factor = addFactor(atHome, gradients);
  }
  size_t next = 0;
  for (unsigned param : atEnd)
    if (!isHome(param))
      addAssignment(param, /*late=*/false);
    else
      addUpdate(param,
                factor ? gradients[next++]
                       : addGradients(param, /*late=*/false),
                factor, /*late=*/false);
}

/// Adds the norm. Norms go from stage to stage, each of which adds those of its
/// own parameters. The last stage sends them back to all.
Value ProgramWriter::addFactor(ArrayRef<unsigned> updated,
                               ArrayRef<SmallVector<Value>> gradients) {
  SmallVector<Value> norms;
  for (auto [param, ofParam] : llvm::zip_equal(updated, gradients))
    norms.push_back(SquaredNormOp::create(builder, loc, param, ofParam));
  RankedTensorType type = getNormsType(tables.pipeline);
  Value before;
  if (stage > 0)
    before = getEdgeValue(tables.edges.getNorms(stage - 1),
                          Direction::Activation, replica);
  Value all = GatherNormsOp::create(
      builder, loc, type, SmallVector<int64_t>(updated.begin(), updated.end()),
      norms, before);
  if (stage + 1 < static_cast<int64_t>(tables.pipeline.getStages())) {
    Value complete = getEdgeValue(tables.edges.getNorms(stage),
                                  Direction::Gradient, replica);
    all = GatherNormsOp::create(builder, loc, type, ArrayRef<int64_t>(),
                                ValueRange(), complete);
  }
  return ClipOp::create(builder, loc, all);
}

void ProgramWriter::addUpdate(unsigned param, ValueRange gradients,
                              Value factor, bool late) {
  UpdateOp::create(builder, loc, tables.params[param].getValue().getType(),
                   param, gradients, factor, late, /*microbatch=*/{});
}

/// The gradients of this rank and, at the parameter's home, also those of all
/// others.
SmallVector<Value> ProgramWriter::addGradients(unsigned param, bool late) {
  Type type = tables.params[param].getValue().getType();
  SmallVector<Value> gradients;
  for (auto [chunk, operand] : tables.getGradientUsers(param))
    if (isHere(chunk))
      gradients.push_back(GradientOp::create(builder, loc, type, param, chunk,
                                             late,
                                             /*microbatch=*/{}));
    else if (isHome(param))
      gradients.push_back(
          getEdgeValue(*tables.edges.getIncoming(chunk, operand),
                       Direction::Gradient, replica, late));
  return gradients;
}

void ProgramWriter::addAssignment(unsigned param, bool late) {
  for (const auto &[number, edge] : llvm::enumerate(tables.edges.getEdges()))
    if (edge.param == param && isHere(edge.consumer)) {
      Value value = getEdgeValue(number, Direction::Activation, replica, late);
      AssignOp::create(builder, loc, param, value, late);
      return;
    }
}

std::pair<double, double> veeline::pipe::getPredicted(Operation *op) {
  auto times = op->getAttrOfType<DenseF64ArrayAttr>(predictedAttrName);
  return {times[0], times[1]};
}

/// The parameters that chunks with late W use. The key is the number of the
/// operation before which the updates come. If steps wait for no updates, all
/// parameters of the stage.
static std::map<size_t, SmallVector<unsigned>>
findLateUpdates(PipelineTables &tables, ArrayRef<schedule::Op> ops) {
  std::optional<Asynchronous> kind = tables.pipeline.getAsynchronous();
  if (kind == Asynchronous::Stashed)
    return {};
  llvm::DenseMap<int64_t, size_t> last;
  for (auto [step, op] : llvm::enumerate(ops))
    if (op.late)
      last[op.chunk] = step + 1;
    else if (kind)
      last.try_emplace(op.chunk, 0);
  std::map<size_t, SmallVector<unsigned>> updates;
  for (unsigned param = 0, e = tables.params.size(); param != e; ++param) {
    std::optional<size_t> end;
    if (tables.getGradientUsers(param).empty())
      continue;
    for (auto [chunk, operand] :
         getChunkUses(ParamOp(tables.params[param]).getValue()))
      if (auto found = last.find(chunk); found != last.end())
        end = std::max(end.value_or(0), found->second);
    if (end)
      updates[*end].push_back(param);
  }
  return updates;
}

/// Parameters, by the number of an operation.
using CompleteUpdates = std::map<size_t, SmallVector<unsigned>>;

/// The parameters that are updated in time but before the end of the step:
/// those that only one rank uses. Each is updated after the last operation of
/// the chunks that use it. Linear in the number of operations and uses.
static CompleteUpdates findCompleteUpdates(PipelineTables &tables,
                                           int64_t stage,
                                           ArrayRef<schedule::Op> ops) {
  PipelineOp pipeline = tables.pipeline;
  llvm::DenseMap<int64_t, size_t> last;
  llvm::DenseSet<int64_t> haveLate;
  for (auto [step, op] : llvm::enumerate(ops)) {
    last[op.chunk] = step;
    if (op.late)
      haveLate.insert(op.chunk);
  }
  CompleteUpdates updates;
  for (unsigned param = 0, e = tables.params.size(); param != e; ++param) {
    auto uses = getChunkUses(ParamOp(tables.params[param]).getValue());
    bool isAlone = llvm::all_of(uses, [&](auto use) {
      return pipeline.getStageOf(use.first) == stage &&
             !haveLate.contains(use.first);
    });
    if (!isAlone || tables.getGradientUsers(param).empty())
      continue;
    size_t end = 0;
    for (auto [chunk, operand] : uses)
      end = std::max(end, last.lookup(chunk));
    updates[end].push_back(param);
  }
  return updates;
}

/// Whether updates in time wait for more than the chunks of their rank.
static bool waitForOthers(PipelineOp pipeline, int64_t stage) {
  return pipeline.getAsynchronous() ||
         pipeline.getClipSync() == ClipSync::Barrier ||
         pipeline.getNumMembers(stage) > 1;
}

namespace {
/// The offloads of a rank, by operation.
class OffloadTable {
public:
  OffloadTable(ArrayRef<schedule::Op> ops,
               ArrayRef<schedule::Offload> offloads) {
    for (auto [step, op] : llvm::enumerate(ops))
      if (!offloads.empty() && !op.late && op.kind != schedule::OpKind::Forward)
        readers.try_emplace({op.chunk, op.microbatch}, step);
    for (const schedule::Offload &offload : offloads) {
      offloaded.insert({offload.chunk, offload.microbatch});
      leaving[offload.leaves].push_back(offload);
      returning[offload.returns].push_back(offload);
    }
  }

  /// Adds the ops of offloads before the operation `step`.
  void addBefore(ProgramWriter &writer, ArrayRef<schedule::Op> ops,
                 size_t step) {
    for (const schedule::Offload &offload : leaving.lookup(step))
      writer.addRelease(offload);
    SmallVector<schedule::Offload> back = returning.lookup(step);
    // Copies back at the same operation are in the order of their readers.
    if (back.size() > 1)
      llvm::sort(back, [&](const auto &a, const auto &b) {
        return findReader(a) < findReader(b);
      });
    for (const schedule::Offload &offload : back)
      writer.addReload(offload);
    if (ops[step].kind != schedule::OpKind::Forward && !ops[step].late)
      writer.addRestore(ops[step]);
  }
  LogicalResult addAfter(ProgramWriter &writer, const schedule::Op &op) {
    if (op.kind == schedule::OpKind::Forward &&
        offloaded.contains({op.chunk, op.microbatch}))
      return writer.addOffload(op);
    return success();
  }

private:
  size_t findReader(const schedule::Offload &offload) const {
    return readers.lookup({offload.chunk, offload.microbatch});
  }

  llvm::DenseMap<std::pair<int, int>, size_t> readers;
  llvm::DenseSet<std::pair<int, int>> offloaded;
  llvm::DenseMap<size_t, SmallVector<schedule::Offload>> leaving, returning;
};
} // namespace

/// Adds the work of a rank, and the updates that are not at the end.
static LogicalResult addOrder(ProgramWriter &writer, PipelineTables &tables,
                              ArrayRef<schedule::Op> ops,
                              ArrayRef<schedule::Offload> offloads,
                              const CompleteUpdates &completeUpdates,
                              ArrayRef<double> start, ArrayRef<double> end) {
  auto lateUpdates = findLateUpdates(tables, ops);
  bool isStashed = tables.pipeline.getAsynchronous() == Asynchronous::Stashed;
  OffloadTable table(ops, offloads);
  for (auto [step, op] : llvm::enumerate(ops)) {
    for (unsigned param : lateUpdates[step])
      writer.addLateUpdate(param);
    table.addBefore(writer, ops, step);
    if (failed(writer.addWork(op, start[step], end[step])) ||
        failed(table.addAfter(writer, op)))
      return failure();
    if (isStashed && op.kind == schedule::OpKind::Backward)
      writer.addUpdatesOf(op);
    if (auto found = completeUpdates.find(step); found != completeUpdates.end())
      for (unsigned param : found->second)
        writer.addCompleteUpdate(param);
  }
  for (unsigned param : lateUpdates[ops.size()])
    writer.addLateUpdate(param);
  return success();
}

static LateBackwards findLateBackwards(const schedule::Schedule &order) {
  LateBackwards late;
  for (const std::vector<schedule::Op> &ops : order.stages)
    for (const schedule::Op &op : ops)
      if (op.late && op.kind == schedule::OpKind::Backward)
        late.insert({op.chunk, op.microbatch});
  return late;
}

LogicalResult veeline::pipe::buildPrograms(PipelineOp pipeline,
                                           const schedule::Schedule &order,
                                           const schedule::TurnTimes &times,
                                           bool updatesAtEnd,
                                           SymbolTableCollection &symbols) {
  PipelineTables tables(pipeline, symbols);
  if (!tables.valid)
    return failure();
  SymbolTable &table =
      symbols.getSymbolTable(pipeline->getParentOfType<ModuleOp>());
  LateBackwards lateBackwards = findLateBackwards(order);
  Operation *last = pipeline;
  SmallVector<ProgramOp> programs;
  int64_t stage = 0;
  for (auto [rank, ops] : llvm::enumerate(order.stages)) {
    if (static_cast<int64_t>(rank) == pipeline.getFirstRank(stage + 1))
      ++stage;
    OpBuilder builder(pipeline.getContext());
    auto program = ProgramOp::create(
        builder, pipeline.getLoc(),
        (pipeline.getSymName() + "_rank" + Twine(rank)).str(),
        pipeline.getSymName(), stage, rank - pipeline.getFirstRank(stage),
        DictionaryAttr());
    program.getBody().emplaceBlock();
    table.insert(program, std::next(last->getIterator()));
    last = program;
    ProgramWriter writer(tables, lateBackwards, program);
    CompleteUpdates completeUpdates;
    if (!updatesAtEnd && !waitForOthers(pipeline, stage))
      completeUpdates = findCompleteUpdates(tables, stage, ops);
    ArrayRef<schedule::Offload> offloads;
    if (!order.offloads.empty())
      offloads = order.offloads[rank];
    if (failed(addOrder(writer, tables, ops, offloads, completeUpdates,
                        times.start[rank], times.end[rank])))
      return failure();
    writer.addUpdates();
    writer.addCarry();
    programs.push_back(program);
  }
  if (pipeline.getClipSync() == ClipSync::Optimistic)
    placeValidations(tables, programs);
  return success();
}
