//===- ChunkExtraction.cpp - chunks out of a model function ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ChunkExtraction.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "veeline/Dialect/Pipe/IR/Frozen.h"
#include "veeline/Dialect/Pipe/Transforms/Transforms.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// The value that `value` becomes once marks are removed.
static Value lookThroughMarks(Value value) {
  while (auto mark = value.getDefiningOp<BoundaryOp>())
    value = mark.getValue();
  return value;
}

/// Calls `visit` with every value of the function's block that `op` uses, also
/// in its regions.
static void forEachUsedValue(Operation *op,
                             llvm::function_ref<void(Value)> visit) {
  Block *block = op->getBlock();
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getParentBlock() == block)
        visit(lookThroughMarks(operand));
  });
}

void ExtractionPlan::assignOps(ArrayRef<Piece> pieces, ArrayRef<int> counts) {
  for (auto [i, op] : llvm::enumerate(model.getBody().front()))
    position[&op] = i;
  size_t next = 0;
  chunks.resize(counts.size());
  for (auto [chunk, count] : llvm::enumerate(counts)) {
    for (const Piece &piece :
         pieces.slice(std::exchange(next, next + count), count)) {
      for (Operation *op : piece.ops) {
        chunkOf[op] = chunk;
        chunks[chunk].ops.push_back(op);
      }
      chunks[chunk].pieceEnds.insert(piece.ops.back());
    }
    chunks[chunk].pieceEnds.erase(chunks[chunk].ops.back());
  }
}

/// Finds what the ops of `chunk` use. Side ops are added to the chunk. Values
/// of earlier chunks, and arguments, become its operands.
void ExtractionPlan::collect(int64_t chunk) {
  ChunkPlan &plan = chunks[chunk];
  llvm::SetVector<Value> used;
  llvm::SmallPtrSet<Operation *, 32> members(plan.ops.begin(), plan.ops.end());
  auto visit = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (def && !chunkOf.contains(def)) {
      if (members.insert(def).second)
        plan.ops.push_back(def);
    } else if (!def || chunkOf.lookup(def) != chunk) {
      used.insert(value);
    }
  };
  for (Value result : plan.results)
    visit(result);
  // The list grows during this loop.
  for (size_t i = 0; i != plan.ops.size(); ++i)
    forEachUsedValue(plan.ops[i], visit);
  llvm::sort(plan.ops, [&](Operation *a, Operation *b) {
    return position.at(a) < position.at(b);
  });
  plan.operands = used.takeVector();
  for (Value operand : plan.operands)
    if (Operation *def = operand.getDefiningOp())
      if (auto &results = chunks[chunkOf.at(def)].results;
          !llvm::is_contained(results, operand))
        results.push_back(operand);
}

/// Finds the chunk that returns each result of the model. The last chunk
/// returns values that no chunk computes.
void ExtractionPlan::collectReturned() {
  for (Value operand : model.getBody().front().getTerminator()->getOperands()) {
    Value value = lookThroughMarks(operand);
    Operation *def = value.getDefiningOp();
    auto it = chunkOf.find(def);
    int64_t chunk = it == chunkOf.end() ? chunks.size() - 1 : it->second;
    returned.push_back({value, chunk});
    if (!llvm::is_contained(chunks[chunk].results, value))
      chunks[chunk].results.push_back(value);
  }
}

/// The order of operands: values of ops in program order, then batch arguments,
/// buffers, parameters.
std::tuple<int, int64_t, unsigned> ExtractionPlan::getOrder(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    return {0, position.at(result.getOwner()), result.getResultNumber()};
  unsigned argument = cast<BlockArgument>(value).getArgNumber();
  if (model.getArgAttr(argument, PipeDialect::batchAttrName))
    return {1, argument, 0};
  if (!model.getArgAttr(argument, PipeDialect::paramAttrName))
    return {2, argument, 0};
  return {3, argument, 0};
}

void ExtractionPlan::sortValues() {
  for (ChunkPlan &plan : chunks)
    for (SmallVector<Value> *values : {&plan.operands, &plan.results})
      llvm::sort(*values,
                 [&](Value a, Value b) { return getOrder(a) < getOrder(b); });
}

void ExtractionPlan::addOperands(unsigned chunk, ArrayRef<Value> operands) {
  llvm::append_range(chunks[chunk].operands, operands);
  sortValues();
}

static bool isSendable(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding() &&
         tensor.getElementType().isIntOrFloat();
}

LogicalResult ExtractionPlan::verify() const {
  for (auto [chunk, plan] : llvm::enumerate(chunks)) {
    for (Value result : plan.results) {
      if (isSendable(result.getType()))
        continue;
      return emitError(result.getLoc())
             << "a value of type " << result.getType() << " would leave chunk "
             << chunk
             << "; what leaves a chunk is a tensor of static shape with "
                "integer or float elements: cut elsewhere, with pipe.boundary "
                "or a list of pieces";
    }
    if (plan.results.empty())
      return plan.ops.front()->emitError()
             << "chunk " << chunk
             << " begins here and computes nothing that a later chunk or the "
                "model's results use; remove dead code (veeline-opt "
                "--canonicalize), or "
                "make fewer chunks";
  }
  return success();
}

FailureOr<ExtractionPlan> ExtractionPlan::make(func::FuncOp model,
                                               ArrayRef<Piece> pieces,
                                               ArrayRef<int> counts) {
  ExtractionPlan plan(model);
  plan.assignOps(pieces, counts);
  plan.collectReturned();
  for (int64_t chunk = 0, e = counts.size(); chunk != e; ++chunk)
    plan.collect(chunk);
  plan.sortValues();
  if (failed(plan.verify()))
    return failure();
  return plan;
}

/// Creates the op of the pipeline for `argument`. Null for a parameter that
/// nothing uses.
static Value buildInput(OpBuilder &builder, func::FuncOp model,
                        BlockArgument argument, bool isUsed) {
  unsigned number = argument.getArgNumber();
  Location loc = argument.getLoc();
  Type type = argument.getType();
  if (auto param = model.getArgAttrOfType<ParamAttr>(
          number, PipeDialect::paramAttrName)) {
    if (isUsed) {
      auto op = ParamOp::create(builder, loc, type, param);
      if (Attribute frozen = model.getArgAttr(number, frozenAttrName))
        op->setAttr(frozenAttrName, frozen);
      return op;
    }
    emitWarning(loc) << "parameter \"" << param.getName().getValue()
                     << "\" is not used: it is dropped, not trained";
    return {};
  }
  auto range = model.getArgAttrOfType<DenseI64ArrayAttr>(
      number, PipeDialect::rangeAttrName);
  if (auto batch = model.getArgAttrOfType<StringAttr>(
          number, PipeDialect::batchAttrName)) {
    bool isLossWeight =
        model.getArgAttr(number, PipeDialect::lossWeightAttrName) != nullptr;
    auto op = BatchOp::create(builder, loc, type, batch, range, isLossWeight);
    if (Attribute dim =
            model.getArgAttr(number, PipeDialect::lengthDimAttrName))
      op->setAttr(PipeDialect::lengthDimAttrName, dim);
    return op;
  }
  auto name =
      model.getArgAttrOfType<StringAttr>(number, PipeDialect::bufferAttrName);
  if (!name)
    name = builder.getStringAttr("arg" + Twine(number));
  bool isLossScale =
      model.getArgAttr(number, PipeDialect::lossScaleAttrName) != nullptr;
  return BufferOp::create(builder, loc, type, name, range, isLossScale);
}

/// The names of the results if a metric has a name, else null.
static ArrayAttr buildNames(OpBuilder &builder, func::FuncOp model) {
  SmallVector<std::string> names;
  bool isNamed = false;
  for (unsigned i = 0; i < model.getNumResults(); ++i) {
    names.push_back(getResultName(model, i));
    isNamed |=
        static_cast<bool>(model.getResultAttr(i, PipeDialect::metricAttrName));
  }
  SmallVector<StringRef> texts(names.begin(), names.end());
  return isNamed ? builder.getStrArrayAttr(texts) : ArrayAttr();
}

/// Clones `op`. Uses of marks become uses of the marked values.
static Operation *cloneWithoutMarks(OpBuilder &builder, Operation *op,
                                    IRMapping &mapping) {
  op->walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (operand.getDefiningOp<BoundaryOp>() &&
          operand.getParentBlock() == op->getBlock())
        mapping.map(operand, mapping.lookup(lookThroughMarks(operand)));
  });
  return builder.clone(*op, mapping);
}

static func::FuncOp buildFunction(const ChunkPlan &plan, Location loc,
                                  const Twine &name) {
  MLIRContext *context = loc.getContext();
  auto type = FunctionType::get(context, TypeRange(ValueRange(plan.operands)),
                                TypeRange(ValueRange(plan.results)));
  auto function = func::FuncOp::create(loc, name.str(), type);
  function.setPrivate();
  Block *body = function.addEntryBlock();
  IRMapping mapping;
  for (auto [operand, argument] :
       llvm::zip_equal(plan.operands, body->getArguments())) {
    argument.setLoc(operand.getLoc());
    mapping.map(operand, argument);
  }
  auto builder = OpBuilder::atBlockEnd(body);
  for (Operation *op : plan.ops) {
    Operation *clone = cloneWithoutMarks(builder, op, mapping);
    if (plan.pieceEnds.contains(op))
      clone->setAttr(PipeDialect::pieceEndAttrName, builder.getUnitAttr());
  }
  SmallVector<Value> results = llvm::map_to_vector(
      plan.results, [&](Value value) { return mapping.lookup(value); });
  func::ReturnOp::create(builder, loc, results);
  return function;
}

void ExtractionPlan::build(PipelineOp pipeline, SymbolTable &symbols) {
  llvm::DenseSet<Value> used;
  for (const ChunkPlan &plan : chunks)
    used.insert(plan.operands.begin(), plan.operands.end());
  OpBuilder builder = OpBuilder::atBlockEnd(&pipeline.getBody().front());
  llvm::DenseMap<Value, Value> inputs;
  for (BlockArgument argument : model.getArguments())
    inputs[argument] =
        buildInput(builder, model, argument, used.contains(argument));

  // An argument that is returned is both an operand and a result of a chunk. So
  // values are looked up together with the chunk that returns them.
  llvm::DenseMap<std::pair<Value, int64_t>, Value> given;
  Block::iterator insertionPoint = std::next(pipeline->getIterator());
  for (auto [k, plan] : llvm::enumerate(chunks)) {
    Location loc =
        plan.ops.empty() ? model.getLoc() : plan.ops.front()->getLoc();
    func::FuncOp function =
        buildFunction(plan, loc, pipeline.getSymName() + "_chunk" + Twine(k));
    if (Attribute varies = model->getAttr(PipeDialect::lengthVariesAttrName))
      function->setAttr(PipeDialect::lengthVariesAttrName, varies);
    // The function is renamed if its name is taken.
    StringAttr name = symbols.insert(function, insertionPoint);
    SmallVector<Value> operands =
        llvm::map_to_vector(plan.operands, [&](Value operand) {
          Operation *def = operand.getDefiningOp();
          return def ? given.at({operand, chunkOf.at(def)})
                     : inputs.at(operand);
        });
    auto chunk = ChunkOp::create(
        builder, loc, function.getFunctionType().getResults(), k, name,
        operands, /*forward=*/{}, /*backward=*/{}, /*backward_input=*/{},
        /*backward_weight=*/{}, /*recomputation=*/{}, /*cost=*/{},
        /*recompute=*/{});
    for (auto [value, result] :
         llvm::zip_equal(plan.results, chunk->getResults()))
      given[{value, k}] = result;
  }
  SmallVector<Value> results = llvm::map_to_vector(
      returned, [&](const auto &entry) { return given.at(entry); });
  YieldOp::create(builder, model.getBody().front().getTerminator()->getLoc(),
                  results, buildNames(builder, model));
}
