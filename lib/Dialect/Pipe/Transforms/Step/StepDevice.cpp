//===- StepDevice.cpp - what a step does on a GPU alone -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepWriter.h"
#include "UpdateKernels.h"

#include "veeline/Analysis/CostModel.h"
#include "veeline/Dialect/Pipe/Transforms/StreamOrder.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

/// Memory of the host for a value of `type`, on the stack.
Value StepWriter::onStack(Type type) {
  return LLVM::AllocaOp::create(
      builder, loc, ptr, builder.getI64Type(),
      constant(llvm::divideCeil(getByteSize(type), 8), 64));
}

/// Where argument `number` of the function that `op` runs is: at `source`, or
/// copied from there to where kernels can read it.
Value StepWriter::atSlice(Operation *op, unsigned number, Value source,
                          int64_t bytes) {
  auto slices = op->getAttrOfType<DenseI64ArrayAttr>(sliceOffsetsAttrName);
  if (!isOnDevice || !slices || number >= slices.size() || slices[number] < 0)
    return source;
  Value copy = atArena(slices[number]);
  callRuntime("veeline_copy", {rank, copy, source, constant(bytes, 64)}, {});
  return copy;
}

/// Issues what follows to compute stream `stream`.
void StepWriter::setStream(int64_t stream) {
  if (stream == currentStream)
    return;
  currentStream = stream;
  callRuntime("veeline_stream", {rank, constant(stream, 32)}, {});
}

/// Makes all streams wait for what the step starts from, which is on the first
/// one.
void StepWriter::forkStreams() {
  if (!isOnDevice || plan.device->streams == 1)
    return;
  Value event = constant(0, 32);
  callRuntime("veeline_event_record", {rank, event}, {});
  for (int64_t stream = 1; stream != plan.device->streams; ++stream) {
    setStream(stream);
    callRuntime("veeline_event_wait", {rank, event}, {});
  }
}

/// Whether anything is issued for `op`; other ops are on no stream.
static bool isIssued(Operation *op) {
  return !isa<GradientOp>(op) && !isLength(op);
}

void StepWriter::beginOnStream(Operation *op) {
  if (!isOnDevice || plan.device->streams == 1 || !isIssued(op))
    return;
  setStream(getComputeStream(op));
  for (int64_t event : getAwaitedEvents(op))
    callRuntime("veeline_event_wait", {rank, constant(event, 32)}, {});
}

void StepWriter::endOnStream(Operation *op) {
  if (std::optional<int64_t> event = getRecordedEvent(op))
    callRuntime("veeline_event_record", {rank, constant(*event, 32)}, {});
}

/// Asks for the kernels that add up gradients over the ranks of this rank's
/// stage.
void StepWriter::listSums() {
  SmallVector<Attribute> sums;
  if (auto list = module->getAttrOfType<ArrayAttr>(sumsAttrName))
    llvm::append_range(sums, list);
  int64_t members = tables.pipeline.getNumMembers(program.getStage());
  for (const MemoryPlan::ReducedPiece &piece : plan.reduced) {
    Type type =
        cast<ShapedType>(tables.params[piece.param].getValue().getType())
            .getElementType();
    Attribute sum = builder.getArrayAttr(
        {TypeAttr::get(type), builder.getI64IntegerAttr(members)});
    if (!llvm::is_contained(sums, sum))
      sums.push_back(sum);
  }
  if (!sums.empty())
    module->setAttr(sumsAttrName, builder.getArrayAttr(sums));
}

/// Calls the norm's kernel, then that of the update: both read the gradients.
void StepWriter::lowerUpdateOnDevice(UpdateOp update,
                                     const MemoryPlan::Param &entry) {
  auto type = cast<ShapedType>(update.getResult().getType());
  int64_t bytes = getByteSize(type);
  if (bytes == 0)
    return;
  UpdateShape shape{type.getElementType(),
                    type.getNumElements(),
                    static_cast<int64_t>(update.getGradients().size()),
                    entry.stateBytes / bytes,
                    /*decays=*/type.getRank() >= 2,
                    plan.device->isNesterov};
  int64_t number = &entry - plan.params.begin();
  SmallVector<Value> common = {callRuntime("veeline_settings", {rank}, ptr)};
  for (Value gradient : update.getGradients())
    common.push_back(getAddress(gradient));
  SmallVector<Value> ofNorm = common, ofUpdate = common;
  ofNorm.push_back(
      callRuntime("veeline_norm", {rank, constant(number, 32)}, ptr));
  ofUpdate.push_back(atArena(entry.value));
  int64_t stateArguments = hasSeparateSlots(shape) ? shape.stateSlots : 1;
  for (int64_t i = 0; i < stateArguments; ++i)
    ofUpdate.push_back(atArena(entry.state + i * bytes));
  callFunction(builder, getNormKernel(moduleSymbols, shape), /*rank=*/{},
               ofNorm);
  callFunction(builder, getUpdateKernel(moduleSymbols, shape), /*rank=*/{},
               ofUpdate);
}
