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

/// The first use of the parameter waits for a gather that nothing else of its
/// step waits for.
LogicalResult veeline::pipe::verifyGathered(GatheredOp op,
                                            PipelineOp pipeline) {
  AllGatherOp gather;
  for (auto other : op->getBlock()->getOps<AllGatherOp>())
    if (other.getParam() == op.getParam())
      gather = other;
  if (!gather)
    return op.emitOpError() << "waits for parameter " << op.getParam()
                            << ", which no pipe.all_gather of the program "
                               "gathers";
  if (gather.getLate() || !gather.getHandle().use_empty()) {
    InFlightDiagnostic diagnostic =
        op.emitOpError() << "waits for a gather of parameter " << op.getParam()
                         << " that is waited for in its own step, too";
    diagnostic.attachNote(gather.getLoc()) << "the gather is here";
    return diagnostic;
  }
  SmallVector<ParamOp> params = pipeline.getParams();
  // Of a number that no parameter has, the gather says so.
  if (op.getParam() >= params.size())
    return success();
  SmallVector<ChunkOp> chunks = pipeline.getChunks();
  Value param = params[op.getParam()].getValue();
  for (Operation &before : *op->getBlock()) {
    if (&before == op)
      break;
    std::optional<uint64_t> chunk = getChunkOfWork(&before);
    if (!chunk || *chunk >= chunks.size() ||
        !llvm::is_contained(chunks[*chunk].getOperands(), param))
      continue;
    InFlightDiagnostic diagnostic = op.emitOpError()
                                    << "comes after an op that uses parameter "
                                    << op.getParam();
    diagnostic.attachNote(before.getLoc()) << "that is here";
    return diagnostic;
  }
  return success();
}
