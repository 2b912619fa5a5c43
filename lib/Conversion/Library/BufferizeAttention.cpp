//===- BufferizeAttention.cpp - attention on buffers ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "veeline/Conversion/Attention.h"
#include "veeline/Dialect/Pipe/IR/Attention.h"

using namespace mlir;
using namespace veeline;

namespace {

/// Attention overwrites its destinations without reading them.
template <typename OpT>
struct AttentionModel : bufferization::DstBufferizableOpInterfaceExternalModel<
                            AttentionModel<OpT>, OpT> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const bufferization::AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const bufferization::BufferizationOptions &options,
                          bufferization::BufferizationState &state) const {
    auto destination = cast<DestinationStyleOpInterface>(op);
    if (destination.hasPureBufferSemantics())
      return success();
    SmallVector<Value> buffers, results;
    for (OpOperand &operand : op->getOpOperands()) {
      FailureOr<Value> buffer =
          bufferization::getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      buffers.push_back(*buffer);
      if (destination.isDpsInit(&operand))
        results.push_back(*buffer);
    }
    rewriter.setInsertionPoint(op);
    mlir::clone(rewriter, op, TypeRange(), buffers);
    bufferization::replaceOpWithBufferizedValues(rewriter, op, results);
    return success();
  }
};

} // namespace

void veeline::registerAttentionBufferization(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, pipe::PipeDialect *) {
    pipe::AttentionOp::attachInterface<AttentionModel<pipe::AttentionOp>>(
        *context);
    pipe::AttentionBackwardQOp::attachInterface<
        AttentionModel<pipe::AttentionBackwardQOp>>(*context);
    pipe::AttentionBackwardKVOp::attachInterface<
        AttentionModel<pipe::AttentionBackwardKVOp>>(*context);
    pipe::AttentionBackwardOp::attachInterface<
        AttentionModel<pipe::AttentionBackwardOp>>(*context);
  });
}
