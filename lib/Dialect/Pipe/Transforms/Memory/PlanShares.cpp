//===- PlanShares.cpp - memory of what ranks of a stage divide ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gradients that they add up, parameters that they gather, and states of
// optimisers of which each of them has its own.
//
//===----------------------------------------------------------------------===//

#include "Memory/ArenaPlanner.h"

#include "veeline/Analysis/CostModel.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

//===----------------------------------------------------------------------===//
// Owners of parameters
//===----------------------------------------------------------------------===//

/// Which member of the stage makes each update that is not elementwise, where
/// updates are shared out: the one that has least to do, the largest parameter
/// first. All ranks of a stage choose alike.
void ArenaPlanner::chooseOwners() {
  int64_t shards = PipelineOp(tables.pipeline).getShards(getStage());
  SmallVector<std::pair<int64_t, int64_t>> bySize;
  for (auto [number, param] : llvm::enumerate(tables.params)) {
    auto type = cast<ShapedType>(param.getValue().getType());
    bool isHome =
        tables.getHome(number) == static_cast<int64_t>(program.getStage());
    if (shards > 1 && isHome &&
        !isElementwise(updateRule(optimizer, type.getShape().vec())))
      bySize.push_back({-static_cast<int64_t>(getByteSize(type)), number});
  }
  llvm::sort(bySize);
  SmallVector<int64_t> loads(shards, 0);
  for (auto [bytes, number] : bySize) {
    int64_t owner = llvm::min_element(loads) - loads.begin();
    owners[number] = owner;
    loads[owner] -= bytes;
  }
}

/// States that different members own lie at the same places.
void ArenaPlanner::placeOwnedStates() {
  llvm::DenseMap<int64_t, int64_t> ends;
  int64_t bytes = 0;
  for (MemoryPlan::Param &param : plan.params) {
    if (param.owner < 0 || param.stateBytes == 0)
      continue;
    int64_t &end = ends[param.owner];
    param.state = end;
    end += llvm::alignTo(param.stateBytes, alignment);
    bytes = std::max(bytes, end);
  }
  int64_t base = bytes ? reserve(bytes) : 0;
  for (MemoryPlan::Param &param : plan.params)
    if (param.owner >= 0 && param.stateBytes > 0)
      param.state += base;
}

//===----------------------------------------------------------------------===//
// Sums and gathers
//===----------------------------------------------------------------------===//

/// Adds the pieces of a gather: its parameters, each with shares of its own.
LogicalResult ArenaPlanner::addGathered(int64_t number,
                                        const Reduction &reduction) {
  for (Operation *op : reduction.ops) {
    const MemoryPlan::Param *param = plan.findParam(getReducedParam(op));
    if (!param)
      return op->emitOpError("gathers a parameter that the rank does not have");
    int64_t numElements = getReducedType(op).getNumElements();
    if (numElements > 0)
      plan.reduced.push_back(
          {number, param->param, param->value, numElements, -1, 0});
  }
  return success();
}

/// Adds the pieces of a reduction: its accumulators, those without a gap as
/// one, unless each rank gets its shares of them.
LogicalResult ArenaPlanner::addPieces(int64_t number,
                                      const Reduction &reduction) {
  if (reduction.isGather())
    return addGathered(number, reduction);
  SmallVector<std::pair<int64_t, int64_t>> places;
  for (Operation *op : reduction.ops) {
    auto sum = cast<AllReduceOp>(op);
    auto offset = plan.findAccumulator(sum.getParam(), sum.getChunk());
    if (!offset)
      return sum.emitOpError(
          "adds up gradients that the chunk does not accumulate");
    places.push_back({*offset, sum.getParam()});
  }
  llvm::sort(places);
  for (auto [offset, param] : places) {
    auto type = cast<ShapedType>(tables.params[param].getValue().getType());
    if (type.getNumElements() == 0)
      continue;
    int64_t width = getByteSize(type) / type.getNumElements();
    MemoryPlan::ReducedPiece *last =
        plan.reduced.empty() ? nullptr : &plan.reduced.back();
    bool follows =
        last && last->reduction == number && !reduction.scatters(param) &&
        !reduction.scatters(last->param) &&
        last->offset + last->numElements * width == offset &&
        type.getElementType() ==
            cast<ShapedType>(tables.params[last->param].getValue().getType())
                .getElementType();
    if (follows)
      last->numElements += type.getNumElements();
    else
      plan.reduced.push_back(
          {number, param, offset, type.getNumElements(), -1, 0});
  }
  return success();
}

/// The member that alone gets the sums of a piece, or -1.
int64_t ArenaPlanner::getOwner(const MemoryPlan::ReducedPiece &piece) const {
  return reductions[piece.reduction].scatters(piece.param)
             ? owners.lookup_or(piece.param, -1)
             : -1;
}

/// Places what other ranks contribute to the pieces of a reduction, from
/// `begin` on; returns the end. What different members own lies at the same
/// places.
int64_t ArenaPlanner::placeContributions(int64_t number, int64_t begin) {
  int64_t members = getNumMembers(), end = begin;
  llvm::DenseMap<int64_t, int64_t> ofOwners;
  for (bool isOwned : {false, true})
    for (MemoryPlan::ReducedPiece &piece : plan.reduced) {
      int64_t owner = getOwner(piece);
      if (piece.reduction != number || (owner >= 0) != isOwned)
        continue;
      int64_t &next =
          isOwned ? ofOwners.try_emplace(owner, begin).first->second : begin;
      piece.buffer = next;
      next += (members - 1) * piece.stride;
      end = std::max(end, next);
    }
  return end;
}

/// Reserves memory for what other ranks contribute to this rank's share of the
/// elements: between processes it lies there until it is added. NCCL adds
/// without it.
void ArenaPlanner::addBuffers(int64_t number, Reduction &reduction) {
  int64_t members = getNumMembers();
  bool isInPlace = PipelineOp(tables.pipeline).getNcclSums();
  for (MemoryPlan::ReducedPiece &piece : plan.reduced) {
    // What is gathered comes straight to its place.
    if (piece.reduction != number || reduction.isGather() || isInPlace)
      continue;
    auto type =
        cast<ShapedType>(tables.params[piece.param].getValue().getType());
    int64_t width = getByteSize(type) / type.getNumElements();
    int64_t elements =
        reduction.scatters(piece.param)
            ? Division{piece.numElements, members, getOwner(piece)}
                  .mostReduced()
            : static_cast<int64_t>(
                  llvm::divideCeil(piece.numElements, members));
    piece.stride = llvm::alignTo(elements * width, alignment);
  }
  int64_t bytes = placeContributions(number, 0);
  StreamOrder::Point uses = order.getNone();
  order.include(uses, reduction.lastWait);
  addSlot({reduction.ops.front(), 0}, uses, bytes, bytes);
}

LogicalResult ArenaPlanner::placeReductions() {
  reductions = getReductions(program);
  for (auto [number, reduction] : llvm::enumerate(reductions)) {
    if (!reduction.firstWait)
      return reduction.ops.front()->emitOpError("is not waited for");
    if (failed(addPieces(number, reduction)))
      return failure();
    addBuffers(number, reduction);
  }
  return success();
}

/// Writes down where the buffers are, once that is known.
void ArenaPlanner::placeBuffers() {
  for (auto [number, reduction] : llvm::enumerate(reductions))
    placeContributions(number,
                       reduction.ops.front()->getAttrOfType<DenseI64ArrayAttr>(
                           offsetsAttrName)[0]);
}
