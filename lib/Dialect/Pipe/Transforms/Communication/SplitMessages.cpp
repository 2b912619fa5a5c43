//===- SplitMessages.cpp - splitting messages into parts ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "veeline/Dialect/Pipe/IR/Edges.h"
#include "veeline/Dialect/Pipe/Transforms/Lengths.h"
#include "veeline/Dialect/Pipe/Transforms/ScheduleProblem.h"
#include "veeline/Dialect/Pipe/Transforms/Steps.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// For each edge, the number of elements of its shortest value.
static SmallVector<int64_t> getFewestElements(ArrayRef<PipelineOp> versions) {
  SmallVector<int64_t> fewest;
  for (PipelineOp version : versions) {
    EdgeTable edges(version);
    fewest.resize(edges.size(), std::numeric_limits<int64_t>::max());
    for (auto [least, edge] : llvm::zip_equal(fewest, edges.getEdges()))
      least = std::min(least, edge.type.getNumElements());
  }
  return fewest;
}

LogicalResult veeline::pipe::splitMessages(PipelineOp pipeline, int64_t parts,
                                           SymbolTableCollection &symbols) {
  FailureOr<SmallVector<PipelineOp>> versions = getVersions(pipeline, symbols);
  if (failed(versions))
    return failure();
  if (versions->empty())
    versions->push_back(pipeline);
  SmallVector<int64_t> fewest = getFewestElements(*versions);
  auto split = [&](auto op) {
    bool isShape = op.getDirection() == Direction::Shape;
    op.setParts(isShape ? 1 : std::min(parts, fewest[op.getEdge()]));
  };
  for (ProgramOp program : getPrograms(pipeline))
    for (Operation &op : program.getBody().front()) {
      if (auto send = dyn_cast<SendOp>(op))
        split(send);
      else if (auto recv = dyn_cast<RecvOp>(op))
        split(recv);
    }
  return success();
}
