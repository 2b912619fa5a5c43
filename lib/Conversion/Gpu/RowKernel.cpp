//===- RowKernel.cpp - a team of threads for a row ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RowKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace veeline;

/// False if row buffers of many elements would take too many registers.
static bool fitsRowBuffers(const KernelBody &body) {
  std::optional<RowTeam> team = chooseTeam(body.nests, body.numRowLoops);
  if (!team || team->fitsRegisters())
    return team.has_value();
  return llvm::all_of(body.nests, [&](const LoopNest &nest) {
    return llvm::all_of(nest.accesses, [&](const NestAccess &access) {
      return !access.isMemRef || !isRowBuffer(access.base) ||
             isUniform(nest, access, body.numRowLoops);
    });
  });
}

/// If a single op has no loop over rows, makes its parallel loops rows.
static KernelBody withRows(KernelBody body) {
  if (body.rows || body.nests.size() != 1)
    return body;
  LoopNest &nest = body.nests.front();
  nest.arrange();
  body.numRowLoops = nest.countParallel();
  return body;
}

bool veeline::fitsRow(const KernelBody &given) {
  KernelBody body = withRows(given);
  return (body.rows || body.nests.size() == 1) &&
         canShareRows(body.nests, body.numRowLoops) && fitsRowBuffers(body);
}

void veeline::emitRow(ThreadCode &code) {
  code.body = withRows(std::move(code.body));
  RowEmitter(code, *chooseTeam(code.body.nests, code.body.numRowLoops)).run();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

RowEmitter::RowEmitter(ThreadCode &code, RowTeam team)
    : code(code), team(team), numRowLoops(code.body.numRowLoops),
      freeRegisters(48) {
  for (const NestLoop &loop :
       ArrayRef(code.body.nests.front().loops).take_front(numRowLoops))
    rowSizes.push_back(loop.size);
}

/// Emits the ops for the row `rowIds`.
void RowEmitter::emitRow() {
  code.inlineOps(rowIds);
  takeRegisters();
  if (!team.fitsRegisters())
    return runWide();
  for (auto [i, nest] : llvm::enumerate(code.body.nests)) {
    code.builder.setInsertionPoint(nest.op);
    if (nest.hasReduction())
      emitReduction(nest, i);
    else if (countIterations(nest, numRowLoops) == 1)
      emitUniform(nest, i);
    else
      emitParallel(nest, i);
  }
}

void RowEmitter::run() {
  if (!code.body.sums.empty())
    return runWithSums();
  int64_t rows = llvm::product_of(rowSizes);
  teams = std::max(threadsPerBlock, team.threads) / team.threads;
  // If there are few short rows, the block has no more threads than work on
  // them.
  teams = std::min(teams, rows);
  code.setSizes(llvm::divideCeil(rows, teams), teams * team.threads);
  thread = code.thread();
  lane = teams > 1 ? code.rem(thread, team.threads) : thread;
  Value row = code.block();
  if (teams > 1)
    row = code.add(code.mul(row, teams), code.div(thread, team.threads));
  // If a block has several rows, a team is a warp. Then all threads of a warp
  // skip the code together.
  Value exists = rows % teams ? code.isLess(row, rows) : Value();
  code.when(exists, [&] {
    rowIds = code.delinearize(row, rowSizes);
    emitRow();
  });
}

void RowEmitter::takeRegisters() {
  code.function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                         code.builder.getI32IntegerAttr(team.blocksAtOnce()));
}

RowEmitter::Held *RowEmitter::find(const NestAccess &access) {
  for (Held &place : held)
    if (place.access->startsWith(access))
      return &place;
  return nullptr;
}

void RowEmitter::hold(const NestAccess &access, const LoopNest &nest,
                      ArrayRef<Value> values) {
  if (Held *place = find(access))
    place->values = SmallVector<Value>(values);
  else
    held.push_back({&access, &nest, SmallVector<Value>(values)});
}

/// Whether an output has to be stored. Not if a later op writes the same place,
/// or if it is a row buffer, whose elements threads keep.
bool RowEmitter::mustStore(size_t nest, const NestAccess &access) const {
  if (isRowBuffer(access.base))
    return false;
  bool isNumber = isUniform(code.body.nests[nest], access, numRowLoops);
  // Later sweeps over a wide row read this again.
  if (!isNumber && !team.fitsRegisters())
    return true;
  return llvm::none_of(ArrayRef(code.body.nests).drop_front(nest + 1),
                       [&](const LoopNest &later) {
                         return llvm::any_of(later.outputs(),
                                             [&](const NestAccess &other) {
                                               return other.startsWith(access);
                                             });
                       });
}

//===----------------------------------------------------------------------===//
// Scalars of a row
//===----------------------------------------------------------------------===//

Value RowEmitter::isFirst() { return code.isLess(lane, 1); }

Value RowEmitter::readNumber(const LoopNest &nest, const NestAccess &access) {
  if (Held *place = find(access))
    return place->values.front();
  bool isWritten = llvm::any_of(code.body.nests, [&](const LoopNest &other) {
    return llvm::any_of(other.outputs(), [&](const NestAccess &output) {
      return output.startsWith(access);
    });
  });
  if (!isWritten)
    return code.load(nest, access, at(code.index(0)), 1);
  // The first thread writes the number, perhaps after other threads would have
  // read it.
  Value value = broadcast(nest, access);
  hold(access, nest, value);
  return value;
}

void RowEmitter::writeNumber(Value value, const LoopNest &nest, size_t number,
                             const NestAccess &access) {
  hold(access, nest, value);
  if (!mustStore(number, access))
    return;
  Value isFirst = arith::CmpIOp::create(
      code.builder, code.loc, arith::CmpIPredicate::eq, lane, code.index(0));
  code.when(isFirst,
            [&] { code.store(value, nest, access, at(code.index(0)), 1); });
}

void RowEmitter::emitUniform(const LoopNest &nest, size_t number) {
  SmallVector<Value> results =
      code.emitBody(nest, at(code.index(0)), 1, [&](unsigned input) {
        return readNumber(nest, nest.accesses[input]);
      });
  for (auto [access, value] : llvm::zip(nest.outputs(), results))
    writeNumber(value, nest, number, access);
}

//===----------------------------------------------------------------------===//
// Elements of a row
//===----------------------------------------------------------------------===//

/// The chunk of round `round` or, if that is null, of round `number`.
RowEmitter::Chunk RowEmitter::makeChunk(const LoopNest &nest, Value round,
                                        int64_t number, bool isWhole) {
  OpBuilder &builder = code.builder;
  int64_t count = countIterations(nest, numRowLoops);
  Chunk chunk;
  chunk.round = number;
  Value first = code.mul(code.add(round ? code.mul(round, team.threads)
                                        : code.index(number * team.threads),
                                  lane),
                         team.lanes);
  auto clamp = [&](Value linear, Value exists) -> Value {
    if (!exists)
      return linear;
    return arith::SelectOp::create(builder, code.loc, exists, linear,
                                   code.index(0));
  };
  if (count % team.lanes == 0 &&
      ThreadCode::canUseLanes(nest, numRowLoops, team.lanes)) {
    chunk.exists = isWhole ? Value() : code.isLess(first, count);
    chunk.linear = clamp(first, chunk.exists);
    return chunk;
  }
  chunk.linear = first;
  for (int64_t i = 0; i < team.lanes; ++i) {
    Value linear = code.add(first, i);
    Value exists = isWhole ? Value() : code.isLess(linear, count);
    chunk.elements.emplace_back(clamp(linear, exists), exists);
  }
  return chunk;
}

/// For a row in registers, runs `body` for all rounds in order. Each call gets
/// the result of the call before.
SmallVector<Value> RowEmitter::forChunks(
    const LoopNest &nest, ArrayRef<Value> init,
    llvm::function_ref<SmallVector<Value>(const Chunk &, ValueRange)> body) {
  int64_t count = countIterations(nest, numRowLoops);
  int64_t step = team.threads * team.lanes;
  SmallVector<Value> carried(init);
  for (int64_t round = 0; round * step < count; ++round)
    carried =
        body(makeChunk(nest, {}, round, (round + 1) * step <= count), carried);
  return carried;
}

bool veeline::isSamePlace(const LoopNest &a, const NestAccess &left,
                          const LoopNest &b, const NestAccess &right,
                          unsigned numRowLoops) {
  return left.startsWith(right) &&
         ArrayRef(left.strides).take_front(numRowLoops) ==
             ArrayRef(right.strides).take_front(numRowLoops) &&
         getForm(a, left, numRowLoops) == getForm(b, right, numRowLoops);
}

/// Loads an input, unless it has been loaded before. LLVM would load it again,
/// because of barriers and stores. `element` is -1 for all elements of the
/// chunk.
Value RowEmitter::loadOnce(const LoopNest &nest, const NestAccess &access,
                           const Chunk &chunk, int64_t element) {
  auto find = [&]() -> Value {
    for (const Loaded &other : loaded)
      if (other.round == chunk.round && other.element == element &&
          isSamePlace(nest, access, *other.nest, *other.access, numRowLoops))
        return other.value;
    return {};
  };
  if (Value value = find())
    return value;
  Kept *input = chunk.slot ? findPlace(kept, nest, access) : nullptr;
  if (input) {
    note(nest, access, chunk, loadShared(*input, nest, access, chunk));
    return find();
  }
  bool isWhole = element < 0;
  Value value = code.load(
      nest, access, at(isWhole ? chunk.linear : chunk.elements[element].first),
      isWhole ? team.lanes : 1);
  int64_t words = llvm::divideCeil(
      (isWhole ? team.lanes : 1) * getByteWidth(access.elementType), 4);
  // For a wide row, `visit` decides later which of the values to keep.
  bool isWide = !team.fitsRegisters();
  if (!isWide && words > freeRegisters)
    return value;
  freeRegisters -= isWide ? 0 : words;
  loaded.push_back({&access, &nest, chunk.round, element, value});
  return value;
}

/// The value of an input in this chunk: the one that the thread holds, or a
/// load.
Value RowEmitter::getInput(const LoopNest &nest, unsigned input,
                           const Chunk &chunk, int64_t element) {
  const NestAccess &access = nest.accesses[input];
  if (isUniform(nest, access, numRowLoops))
    return readNumber(nest, access);
  Held *place = find(access);
  if (!place)
    return loadOnce(nest, access, chunk, element);
  Value value = place->values[chunk.round];
  if (element < 0)
    return value;
  return vector::ExtractOp::create(code.builder, code.loc, value, element);
}

/// Emits the body for a chunk. If the elements of an operand are not at equal
/// distances, emits it element by element.
SmallVector<Value> RowEmitter::emitChunk(const LoopNest &nest,
                                         const Chunk &chunk,
                                         ArrayRef<NestReduction> reductions) {
  OpBuilder &builder = code.builder;
  if (chunk.elements.empty())
    return code.emitBody(
        nest, at(chunk.linear), team.lanes,
        [&](unsigned input) { return getInput(nest, input, chunk, -1); },
        reductions);
  SmallVector<SmallVector<Value>> elements;
  for (auto [i, element] : llvm::enumerate(chunk.elements)) {
    SmallVector<Value> results = code.emitBody(
        nest, at(element.first), 1,
        [&, i = i](unsigned input) { return getInput(nest, input, chunk, i); },
        reductions);
    elements.resize(results.size());
    for (auto [list, value] : llvm::zip(elements, results))
      list.push_back(value);
  }
  SmallVector<Value> vectors;
  for (ArrayRef<Value> list : elements)
    vectors.push_back(vector::FromElementsOp::create(
        builder, code.loc,
        VectorType::get({team.lanes}, list.front().getType()), list));
  return vectors;
}

void RowEmitter::storeChunk(Value value, const LoopNest &nest,
                            const NestAccess &access, const Chunk &chunk) {
  if (chunk.elements.empty()) {
    code.when(chunk.exists, [&] {
      code.store(value, nest, access, at(chunk.linear), team.lanes);
    });
    return;
  }
  for (auto [i, element] : llvm::enumerate(chunk.elements)) {
    Value scalar = vector::ExtractOp::create(code.builder, code.loc, value, i);
    code.when(element.second, [&, linear = element.first] {
      code.store(scalar, nest, access, at(linear), 1);
    });
  }
}

void RowEmitter::emitParallel(const LoopNest &nest, size_t number) {
  SmallVector<SmallVector<Value>> values(nest.outputs().size());
  forChunks(nest, {}, [&](const Chunk &chunk, ValueRange) {
    SmallVector<Value> results = emitChunk(nest, chunk, {});
    for (auto [i, access] : llvm::enumerate(nest.outputs())) {
      values[i].push_back(results[i]);
      if (mustStore(number, access))
        storeChunk(results[i], nest, access, chunk);
    }
    return SmallVector<Value>();
  });
  for (auto [access, list] : llvm::zip(nest.outputs(), values))
    hold(access, nest, list);
}
