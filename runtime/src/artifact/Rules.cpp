//===- Rules.cpp - helpers for the rules of metadata ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rules.h"

#include <algorithm>
#include <set>

using namespace veeline;
using namespace veeline::artifact;

static bool isPositive(const std::vector<int64_t> &numbers) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [](int64_t number) { return number >= 1; });
}

bool artifact::isScattered(const ReducedPiece &piece, const Rank &rank,
                           const std::vector<Parameter> &params) {
  return std::ranges::any_of(rank.params, [&](const RankParam &entry) {
    bool isKnown =
        entry.param >= 0 && static_cast<size_t>(entry.param) < params.size();
    return entry.scattered && isKnown &&
           numElements(params[static_cast<size_t>(entry.param)].shape) ==
               piece.numElements &&
           std::ranges::any_of(entry.gradients, [&](const Accumulator &sum) {
             return sum.offset == piece.offset;
           });
  });
}

bool artifact::isScatteredPiece(const Accumulator &sum, const Rank &rank) {
  return std::ranges::any_of(rank.reductions, [&](const Reduction &all) {
    return std::ranges::any_of(all.pieces, [&](const ReducedPiece &piece) {
      return piece.scatters && piece.offset == sum.offset;
    });
  });
}

void Rules::require(bool condition, const std::string &where,
                    const char *rule) {
  if (!condition && message.empty())
    message = where + ": " + rule;
}

void Rules::checkShape(const std::vector<int64_t> &shape,
                       const std::string &where) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    require(extent >= 1, where, "an extent of its shape is below 1");
    if (!message.empty())
      return;
    require(extent <= maxElements / count, where, "it has too many elements");
    if (!message.empty())
      return;
    count *= extent;
  }
}

void Rules::checkWaits(const std::vector<Op> &ops, const std::string &where) {
  std::set<int32_t> posted;
  for (const Op &op : ops) {
    if (postsReduction(op.kind))
      posted.insert(op.reduction);
    require(!waitsForReduction(op.kind) || posted.contains(op.reduction), where,
            "a reduction is waited for before it is posted");
  }
}

void Rules::checkClipSync(const Rank &rank, const Program &program,
                          const std::string &where) {
  bool isOptimistic = program.clipSync == ClipSync::optimistic;
  auto validations =
      std::count_if(rank.ops.begin(), rank.ops.end(),
                    [](const Op &op) { return op.kind == OpKind::validate; });
  require(validations == (isOptimistic ? 1 : 0), where,
          "it does not validate the updates of the step before once where "
          "they are optimistic, and only there");
  for (const Op &op : rank.ops)
    require(
        op.kind == OpKind::validate ? op.late
                                    : !op.late || isOfGather(op.kind) ||
                                          program.clipSync != ClipSync::barrier,
        where, "ops are late, but updates depend on all gradients of the step");
}

void Rules::checkGemm(const Gemm &gemm, const std::string &where) {
  size_t rank = gemm.batch.size() + 2;
  require(!isInteger(gemm.type), where, "its type is no float");
  require(gemm.aStrides.size() == rank && gemm.bStrides.size() == rank &&
              gemm.cStrides.size() == rank,
          where, "it has not one stride per dimension");
  require(gemm.m >= 1 && gemm.n >= 1 && gemm.k >= 1, where,
          "an extent is below 1");
  require(gemm.scratchBytes >= 0, where, "its scratch is negative");
  checkShape(gemm.batch, where);
  for (const std::vector<int64_t> *strides :
       {&gemm.aStrides, &gemm.bStrides, &gemm.cStrides})
    for (int64_t stride : *strides)
      require(stride >= 0 && (stride > 0 || strides != &gemm.cStrides), where,
              "a stride is negative, or 0 in the result");
}

void Rules::checkConvolution(const Convolution &convolution,
                             const std::string &where) {
  size_t rank = convolution.xSizes.size();
  require(rank >= 1 && rank <= 3, where, "it has not 1 to 3 dimensions");
  for (const auto *list :
       {&convolution.ySizes, &convolution.wSizes, &convolution.strides,
        &convolution.dilations, &convolution.padding})
    require(list->size() == rank, where,
            "it has not one element per dimension");
  for (const auto *strides :
       {&convolution.xStrides, &convolution.wStrides, &convolution.yStrides})
    require(strides->size() == rank + 3 && isPositive(*strides), where,
            "it has not one positive stride per dimension");
  require(isPositive({convolution.batch, convolution.groups, convolution.inputs,
                      convolution.outputs}) &&
              isPositive(convolution.strides) &&
              isPositive(convolution.dilations),
          where, "an extent, stride or dilation is below 1");
  checkShape(convolution.xSizes, where);
  checkShape(convolution.ySizes, where);
  checkShape(convolution.wSizes, where);
  require(convolution.scratchBytes >= 0, where, "its scratch is negative");
  for (size_t i = 0; i < rank && message.empty(); ++i)
    checkWindow(convolution, i, where);
}

/// No further window may fit after the last one. The padding after x is as long
/// as the last window requires.
void Rules::checkWindow(const Convolution &convolution, size_t i,
                        const std::string &where) {
  int64_t before = convolution.padding[i];
  require(before >= 0 && before < maxElements &&
              convolution.strides[i] < maxElements / convolution.ySizes[i] &&
              convolution.dilations[i] < maxElements / convolution.wSizes[i],
          where, "a window is too large");
  if (!message.empty())
    return;
  int64_t reached = (convolution.ySizes[i] - 1) * convolution.strides[i] +
                    (convolution.wSizes[i] - 1) * convolution.dilations[i] + 1;
  require(convolution.xSizes[i] + before - reached < convolution.strides[i],
          where, "its sizes do not fit each other");
}
