//===- ShareVerifier.cpp - shares of updates ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ShareVerifier.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace veeline::pipe;

/// Only an update knows which elements the rank has.
LogicalResult veeline::pipe::verifyScattered(AllReduceOp op,
                                             PipelineOp pipeline,
                                             ProgramOp program) {
  if (pipeline.getShards(program.getStage()) == 1)
    return op.emitOpError()
           << "is 'scattered', but updates of stage " << program.getStage()
           << " are not shared out by 'shard_optimizer'";
  if (op.getMicrobatch())
    return op.emitOpError("is 'scattered', and of one microbatch; sums of "
                          "microbatches are whole on each rank");
  for (Operation *wait : op.getHandle().getUsers())
    for (Operation *user : wait->getUsers())
      if (!isa<UpdateOp>(user)) {
        InFlightDiagnostic diagnostic =
            op.emitOpError("is 'scattered', and something else than a "
                           "pipe.update takes its sum");
        diagnostic.attachNote(user->getLoc()) << "found this";
        return diagnostic;
      }
  return success();
}

static std::optional<uint64_t> getChunkOfWork(Operation *op) {
  return llvm::TypeSwitch<Operation *, std::optional<uint64_t>>(op)
      .Case<ForwardOp, RecomputationOp, BackwardOp, BackwardInputOp,
            BackwardWeightOp>([](auto work) { return work.getChunk(); })
      .Default(std::nullopt);
}

LogicalResult veeline::pipe::verifyGatherBeforeUses(AllGatherOp gather,
                                                    PipelineOp pipeline) {
  if (!gather.getLate() || pipeline.getAsynchronous())
    return success();
  SmallVector<ChunkOp> chunks = pipeline.getChunks();
  Value param = pipeline.getParams()[gather.getParam()].getValue();
  for (Operation &op : *gather->getBlock()) {
    if (llvm::is_contained(gather.getHandle().getUsers(), &op))
      return success();
    std::optional<uint64_t> chunk = getChunkOfWork(&op);
    if (isLate(&op) || !chunk || *chunk >= chunks.size() ||
        !llvm::is_contained(chunks[*chunk].getOperands(), param))
      continue;
    InFlightDiagnostic diagnostic =
        op.emitOpError() << "uses parameter " << gather.getParam()
                         << " before the shares of the other ranks are there; "
                            "put the pipe.wait for their gather before it";
    diagnostic.attachNote(gather.getLoc()) << "the gather is here";
    return diagnostic;
  }
  return gather.emitOpError("is not waited for");
}
