//===- WideRow.cpp - wide rows in kernels of rows -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Wide rows need more than a few registers. Ops that use only elements at the
// same places of each other process such a row together, in one sweep. If later
// sweeps read an input again, the first sweep keeps it: the first rounds in
// registers, the next ones in shared memory. The rest is read from memory
// again. A thread keeps only what it reads itself, so this needs no barriers.
// Rounds are processed in order, so the bits of results do not depend on what
// is kept.
//
//===----------------------------------------------------------------------===//

#include "GpuModule.h"
#include "Kernels/LaneEmitter.h"
#include "RowKernel.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace veeline;

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

static bool overlaps(const NestAccess &a, const NestAccess &b) {
  return a.isMemRef && b.isMemRef && a.base == b.base &&
         (a.isWritten || b.isWritten);
}

static bool areIndependent(LoopNest &a, LoopNest &b) {
  return llvm::none_of(a.accesses, [&](const NestAccess &left) {
    return llvm::any_of(b.accesses, [&](const NestAccess &right) {
      return overlaps(left, right);
    });
  });
}

/// Moves scalars of the row before independent other ops, so that these other
/// ops become adjacent.
void RowEmitter::hoistNumbers() {
  std::vector<LoopNest> &nests = code.body.nests;
  for (size_t i = 0; i < nests.size(); ++i)
    for (size_t at = i;
         at > 0 && isNumber(nests[at]) && !isNumber(nests[at - 1]) &&
         areIndependent(nests[at], nests[at - 1]);
         --at)
      std::swap(nests[at], nests[at - 1]);
}

bool RowEmitter::isNumber(const LoopNest &nest) const {
  return !nest.hasReduction() && countIterations(nest, numRowLoops) == 1;
}

/// True if the elements of a round are loaded with one access.
bool RowEmitter::isVectorized(const LoopNest &nest) const {
  return countIterations(nest, numRowLoops) % team.lanes == 0 &&
         ThreadCode::canUseLanes(nest, numRowLoops, team.lanes);
}

/// True if `nest` can join the ops of `sweep`: it has the same rounds, and
/// needs no scalar that these ops compute.
bool RowEmitter::canJoin(const Sweep &sweep, const LoopNest &nest) const {
  ArrayRef<LoopNest> nests(code.body.nests);
  ArrayRef<LoopNest> members =
      nests.slice(sweep.begin, sweep.end - sweep.begin);
  if (isNumber(nest) || isNumber(members.front()) ||
      countIterations(nest, numRowLoops) !=
          countIterations(members.front(), numRowLoops) ||
      isVectorized(nest) != isVectorized(members.front()))
    return false;
  return llvm::none_of(members, [&](const LoopNest &member) {
    return member.hasReduction() &&
           llvm::any_of(nest.accesses, [&](const NestAccess &access) {
             return llvm::any_of(member.outputs(),
                                 [&](const NestAccess &output) {
                                   return overlaps(access, output);
                                 });
           });
  });
}

SmallVector<RowEmitter::Sweep> RowEmitter::findSweeps() const {
  SmallVector<Sweep> sweeps;
  for (auto [i, nest] : llvm::enumerate(code.body.nests)) {
    if (!sweeps.empty() && canJoin(sweeps.back(), nest))
      sweeps.back().end = i + 1;
    else
      sweeps.push_back({i, i + 1, 1});
  }
  return sweeps;
}

//===----------------------------------------------------------------------===//
// Values kept in registers
//===----------------------------------------------------------------------===//

/// The number of 32-bit registers that a thread may keep of a row from one
/// sweep to the next.
static int64_t getKeptRegisters(const RowTeam &team) {
  return team.registersPerThread() == 64 ? 28 : 48;
}

/// The number of registers of a thread for loads that are not kept. It lets
/// enough loads overlap, and leaves registers for what is kept.
static constexpr int64_t loadedRegisters = 8;

/// The number of registers for values of `type` of a thread in a round. Small
/// numbers are extended before they are used, and kept like that.
static int64_t getRegisters(const RowTeam &team, Type type) {
  return team.lanes * llvm::divideCeil(getByteWidth(type), 4);
}

/// The shared memory that is left besides scalars and sums of warps.
static int64_t getFreeSharedBytes(ArrayRef<LoopNest> nests) {
  int64_t bytes = maxSharedBytes;
  for (const LoopNest &nest : nests)
    bytes -= nest.accesses.size() * vectorBytes +
             nest.outputs().size() * warpSize * sizeof(double);
  return bytes;
}

/// True if one of the nests from `begin` to `end` writes to `base`.
bool RowEmitter::isWritten(Value base, size_t begin, size_t end) const {
  ArrayRef<LoopNest> nests(code.body.nests);
  return llvm::any_of(
      nests.slice(begin, end - begin), [&](const LoopNest &nest) {
        return llvm::any_of(nest.outputs(), [&](const NestAccess &output) {
          return output.base == base;
        });
      });
}

/// The inputs that a sweep loads, each place once.
SmallVector<RowEmitter::Kept> RowEmitter::findLoaded(const Sweep &sweep) const {
  SmallVector<Kept> inputs;
  for (size_t i = sweep.begin; i < sweep.end; ++i) {
    const LoopNest &nest = code.body.nests[i];
    if (isNumber(nest))
      continue;
    for (const NestAccess &access : nest.accesses)
      if (access.isMemRef && access.isRead &&
          !isUniform(nest, access, numRowLoops) &&
          !isWritten(access.base, sweep.begin, i) &&
          !findPlace(inputs, nest, access))
        inputs.push_back({&access, &nest, sweep.begin, {}});
  }
  return inputs;
}

RowEmitter::Kept *RowEmitter::findPlace(MutableArrayRef<Kept> places,
                                        const LoopNest &nest,
                                        const NestAccess &access) const {
  auto it = llvm::find_if(places, [&](const Kept &place) {
    return isSamePlace(nest, access, *place.nest, *place.access, numRowLoops);
  });
  return it == places.end() ? nullptr : it;
}

/// Finds inputs that several sweeps read, and decides how much of them is kept
/// where.
void RowEmitter::chooseKept(ArrayRef<Sweep> sweeps) {
  SmallVector<Kept> seen;
  for (const Sweep &sweep : sweeps)
    for (const Kept &input : findLoaded(sweep)) {
      Type type = input.access->elementType;
      if (type.isIndex() || type.isInteger(1) ||
          isWritten(input.access->base, 0, code.body.nests.size()))
        continue;
      Kept *before = findPlace(seen, *input.nest, *input.access);
      if (!before)
        seen.push_back(input);
      else if (!findPlace(kept, *input.nest, *input.access))
        kept.push_back(*before);
    }
  int64_t registers = 0, bytes = 0;
  int64_t step = teams * team.threads * team.lanes;
  for (const Kept &input : kept) {
    registers += getRegisters(team, input.access->elementType);
    bytes += step * getByteWidth(input.access->elementType);
  }
  if (registers == 0 || bytes == 0)
    return; // Nothing is kept.
  // Registers first: the less shared memory a block takes, the more chips have
  // room for two.
  registerRounds = std::min(team.rounds, getKeptRegisters(team) / registers);
  sharedRounds = std::min(getFreeSharedBytes(code.body.nests) / bytes,
                          team.rounds - registerRounds);
  if (sharedRounds)
    for (Kept &input : kept)
      input.shared =
          code.addShared(input.access->elementType, sharedRounds * step);
}

/// Loads an input that is kept in shared memory. The first sweep that reads the
/// input copies it there.
Value RowEmitter::loadShared(Kept &input, const LoopNest &nest,
                             const NestAccess &access, const Chunk &chunk) {
  LaneEmitter emitter(code.builder, code.loc, team.lanes, team.lanes);
  emitter.setAlignment(
      std::min(team.lanes * getByteWidth(access.elementType), vectorBytes));
  if (input.sweep != currentSweep)
    return emitter.load(input.shared, chunk.slot, 1);
  Value value;
  if (chunk.elements.empty()) {
    value = code.load(nest, access, at(chunk.linear), team.lanes);
  } else {
    SmallVector<Value> elements;
    for (auto [linear, exists] : chunk.elements)
      elements.push_back(code.load(nest, access, at(linear), 1));
    value = vector::FromElementsOp::create(
        code.builder, code.loc,
        VectorType::get({team.lanes}, access.elementType), elements);
  }
  emitter.store(value, input.shared, chunk.slot, 1);
  return value;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Records the value that the thread has for a place in this chunk.
void RowEmitter::note(const LoopNest &nest, const NestAccess &access,
                      const Chunk &chunk, Value value) {
  llvm::erase_if(loaded, [&](const Loaded &other) {
    return other.round == chunk.round &&
           isSamePlace(nest, access, *other.nest, *other.access, numRowLoops);
  });
  if (chunk.elements.empty() || !isa<VectorType>(value.getType())) {
    loaded.push_back({&access, &nest, chunk.round, -1, value});
    return;
  }
  for (int64_t i = 0; i < team.lanes; ++i)
    loaded.push_back(
        {&access, &nest, chunk.round, i,
         vector::ExtractOp::create(code.builder, code.loc, value, i)});
}

/// Emits all ops of the current sweep for some rounds.
SmallVector<Value> RowEmitter::visit(const Sweep &sweep, ArrayRef<Chunk> chunks,
                                     ValueRange carried) {
  SmallVector<Value> partials(carried);
  size_t first = 0;
  for (size_t i = sweep.begin; i < sweep.end; ++i) {
    const LoopNest &nest = code.body.nests[i];
    SmallVector<NestReduction> reductions;
    if (nest.hasReduction())
      reductions = *nest.getReductions();
    for (const Chunk &chunk : chunks) {
      SmallVector<Value> values = emitChunk(nest, chunk, reductions);
      for (auto [j, access] : llvm::enumerate(nest.outputs())) {
        if (nest.hasReduction()) {
          Value &partial = partials[first + j];
          partial =
              combineChunk(reductions[j].combiner, partial, values[j], chunk);
          continue;
        }
        if (mustStore(i, access))
          storeChunk(values[j], nest, access, chunk);
        note(nest, access, chunk, values[j]);
      }
    }
    first += reductions.size();
  }
  // Only kept inputs stay in registers.
  llvm::erase_if(loaded, [&](const Loaded &value) {
    return value.round < 0 || !findPlace(kept, *value.nest, *value.access);
  });
  return partials;
}

/// The chunk that is `offset` rounds after `round` (or after `begin`, if
/// `round` is null), of which nothing is kept in registers.
RowEmitter::Chunk RowEmitter::makePassing(const LoopNest &nest, Value round,
                                          int64_t begin, int64_t offset,
                                          bool isWhole, bool isShared) {
  Value number = round ? code.add(round, offset) : code.index(begin + offset);
  Chunk chunk = makeChunk(nest, number, -1 - offset, isWhole);
  if (!isShared)
    return chunk;
  // Counted from the first round in shared memory. Each thread of the block has
  // its own places.
  Value slot = round ? code.sub(number, registerRounds)
                     : code.index(begin + offset - registerRounds);
  chunk.slot = code.mul(code.add(code.mul(slot, teams * team.threads), thread),
                        team.lanes);
  return chunk;
}

/// Processes the rounds from `begin` to `end`, all of which are whole. Several
/// are processed at once.
SmallVector<Value> RowEmitter::visitWhole(const Sweep &sweep, int64_t begin,
                                          int64_t end, bool isShared,
                                          SmallVector<Value> carried) {
  const LoopNest &nest = code.body.nests[sweep.begin];
  auto visitFrom = [&](Value round, int64_t first, int64_t count,
                       ValueRange carried) {
    SmallVector<Chunk> chunks;
    for (int64_t i = 0; i < count; ++i)
      chunks.push_back(
          makePassing(nest, round, first, i, /*isWhole=*/true, isShared));
    return visit(sweep, chunks, carried);
  };
  int64_t rest = (end - begin) % sweep.atOnce;
  if (end - begin >= sweep.atOnce)
    carried =
        code.rolledLoop(begin, end - rest, sweep.atOnce, carried,
                        [&](Value round, ValueRange carried) {
                          return visitFrom(round, begin, sweep.atOnce, carried);
                        });
  if (rest)
    carried = visitFrom({}, end - rest, rest, carried);
  return carried;
}

/// The number of rounds that a sweep processes at once if nothing of them is
/// kept.
int64_t RowEmitter::getRoundsAtOnce(ArrayRef<Kept> inputs) const {
  int64_t registers = 0;
  for (const Kept &input : inputs)
    registers += getRegisters(team, input.access->elementType);
  return std::clamp<int64_t>(loadedRegisters / std::max<int64_t>(registers, 1),
                             1, 4);
}

/// Processes all rounds of a sweep: those in registers, those in shared memory,
/// the others, and a last incomplete one.
SmallVector<Value> RowEmitter::visitRounds(Sweep sweep,
                                           SmallVector<Value> carried) {
  const LoopNest &nest = code.body.nests[sweep.begin];
  int64_t step = team.threads * team.lanes;
  int64_t count = countIterations(nest, numRowLoops);
  int64_t whole = count / step, inRegisters = 0, inShared = 0;
  SmallVector<Kept> inputs = findLoaded(sweep);
  sweep.atOnce = getRoundsAtOnce(inputs);
  if (llvm::any_of(inputs, [&](const Kept &input) {
        return findPlace(kept, *input.nest, *input.access);
      })) {
    inRegisters = registerRounds;
    inShared = registerRounds + sharedRounds;
  }
  int64_t round = std::min(inRegisters, whole);
  for (int64_t i = 0; i < round; ++i)
    carried = visit(sweep, makeChunk(nest, {}, i, /*isWhole=*/true), carried);
  for (bool isShared : {true, false}) {
    int64_t end = isShared ? std::min(inShared, whole) : whole;
    if (round < end)
      carried = visitWhole(sweep, round, end, isShared, carried);
    round = std::max(round, end);
  }
  if (count % step == 0)
    return carried;
  Chunk last = whole < inRegisters
                   ? makeChunk(nest, {}, whole, /*isWhole=*/false)
                   : makePassing(nest, {}, whole, 0, /*isWhole=*/false,
                                 whole < inShared);
  return visit(sweep, last, carried);
}

/// Reads the scalars of the row that the sweep's ops need. This may take a
/// barrier.
void RowEmitter::readNumbers(const LoopNest &nest) {
  for (const NestAccess &access : nest.accesses)
    if (access.isMemRef && access.isRead && !access.isWritten &&
        isUniform(nest, access, numRowLoops))
      readNumber(nest, access);
}

void RowEmitter::emitSweep(const Sweep &current) {
  currentSweep = current.begin;
  SmallVector<Value> partials;
  for (size_t i = current.begin; i < current.end; ++i) {
    const LoopNest &nest = code.body.nests[i];
    readNumbers(nest);
    if (nest.hasReduction())
      llvm::append_range(partials, getNeutral(nest));
  }
  partials = visitRounds(current, std::move(partials));
  ArrayRef<Value> rest(partials);
  for (size_t i = current.begin; i < current.end; ++i) {
    const LoopNest &nest = code.body.nests[i];
    if (!nest.hasReduction())
      continue;
    finishReduction(nest, i, rest.take_front(nest.outputs().size()));
    rest = rest.drop_front(nest.outputs().size());
  }
}

void RowEmitter::runWide() {
  hoistNumbers();
  SmallVector<Sweep> sweeps = findSweeps();
  chooseKept(sweeps);
  for (const Sweep &current : sweeps) {
    const LoopNest &nest = code.body.nests[current.begin];
    if (isNumber(nest))
      emitUniform(nest, current.begin);
    else
      emitSweep(current);
  }
}
