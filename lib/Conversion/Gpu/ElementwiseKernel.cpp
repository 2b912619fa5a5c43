//===- ElementwiseKernel.cpp - elementwise kernels ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelClass.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace veeline;

bool veeline::fitsElementwise(const KernelBody &body) {
  if (body.nests.empty() || !sharePlaces(body.nests, 0))
    return false;
  int64_t count = countIterations(body.nests.front(), 0);
  return llvm::all_of(body.nests, [&](const LoopNest &nest) {
    return !nest.hasReduction() && countIterations(nest, 0) == count;
  });
}

/// The 4-byte registers for values that a thread loads. A thread has 128
/// registers if two blocks run on a multiprocessor.
static constexpr int64_t maxLoadedWords = 64;

/// The number of such registers that `lanes` elements of every operand take.
static int64_t countLoadedWords(const KernelBody &body, int64_t lanes) {
  DenseSet<std::pair<Value, int64_t>> places;
  int64_t words = 0;
  for (const LoopNest &nest : body.nests)
    for (const NestAccess &access : nest.accesses)
      if (access.isMemRef && access.isRead && !isUniform(nest, access, 0) &&
          places.insert({access.base, access.offset}).second)
        words += llvm::divideCeil(lanes * getByteWidth(access.elementType), 4);
  return words;
}

/// The number of elements of a thread: as many as one access of the widest
/// contiguous operand has, or fewer if they do not divide the loops or take too
/// many registers.
static int64_t chooseLanes(const KernelBody &body) {
  int64_t lanes = vectorBytes;
  for (const LoopNest &nest : body.nests)
    for (const NestAccess &access : nest.accesses)
      if (access.isMemRef && !isUniform(nest, access, 0))
        lanes = std::min(lanes, elementsPerAccess(access.elementType));
  bool capturesRows = body.capturesRows();
  auto divides = [&](const LoopNest &nest) {
    // All lanes have to be in the same row.
    int64_t inner = countIterations(nest, body.numRowLoops);
    return ThreadCode::canUseLanes(nest, 0, lanes) &&
           (!capturesRows || inner % lanes == 0);
  };
  while (lanes > 1 && (!llvm::all_of(body.nests, divides) ||
                       countLoadedWords(body, lanes) > maxLoadedWords))
    lanes /= 2;
  return lanes;
}

/// The value that the thread has for a place, or null.
static Value findHeld(ArrayRef<std::pair<const NestAccess *, Value>> held,
                      const NestAccess &access) {
  for (auto [other, value] : held)
    if (other->base == access.base)
      return value;
  return {};
}

static bool isWrittenAgain(const KernelBody &body, size_t nest,
                           const NestAccess &access) {
  return llvm::any_of(
      ArrayRef(body.nests).drop_front(nest + 1), [&](const LoopNest &later) {
        return llvm::any_of(later.outputs(), [&](const NestAccess &other) {
          return other.base == access.base;
        });
      });
}

static void emitNests(ThreadCode &code, Value linear, int64_t lanes) {
  // The places written so far. Accesses with the same buffer have the same
  // place.
  SmallVector<std::pair<const NestAccess *, Value>> held;
  for (auto [i, nest] : llvm::enumerate(code.body.nests)) {
    code.builder.setInsertionPoint(nest.op);
    ThreadCode::Point point{{}, 0, linear};
    SmallVector<Value> results =
        code.emitBody(nest, point, lanes, [&](unsigned input) {
          return findHeld(held, nest.accesses[input]);
        });
    for (auto [access, value] : llvm::zip(nest.outputs(), results)) {
      llvm::erase_if(
          held, [&](auto &place) { return place.first->base == access.base; });
      held.emplace_back(&access, value);
      if (!isRowBuffer(access.base) && !isWrittenAgain(code.body, i, access))
        code.store(value, nest, access, point, lanes);
    }
  }
}

void veeline::emitElementwise(ThreadCode &code) {
  int64_t lanes = chooseLanes(code.body);
  int64_t vectors = countIterations(code.body.nests.front(), 0) / lanes;
  code.forEach(vectors, threadsPerBlock, [&](Value vector) {
    Value linear = code.mul(vector, lanes);
    SmallVector<int64_t> rows;
    int64_t inner =
        countIterations(code.body.nests.front(), code.body.numRowLoops);
    for (unsigned i = 0; i < code.body.numRowLoops; ++i)
      rows.push_back(code.body.nests.front().loops[i].size);
    code.inlineOps(code.delinearize(code.div(linear, inner), rows));
    emitNests(code, linear, lanes);
  });
}
