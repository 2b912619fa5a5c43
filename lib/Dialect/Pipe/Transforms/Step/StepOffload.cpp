//===- StepOffload.cpp - offloading in a step -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepWriter.h"

#include "veeline/Analysis/CostModel.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

template <typename OpTy> Value StepWriter::getOffloadNumber(OpTy op) {
  return constant(offloadNumbers.lookup({op.getChunk(), op.getMicrobatch()}),
                  32);
}

void StepWriter::lowerOffload(OffloadOp offload) {
  Value number = getOffloadNumber(offload);
  auto offsets = offload->getAttrOfType<DenseI64ArrayAttr>(offsetsAttrName);
  bracket(offload, [&] {
    for (auto [value, offset] :
         llvm::zip_equal(offload.getValues(), offsets.asArrayRef()))
      callRuntime("veeline_offload",
                  {rank, number, constant(offset, 64), getAddress(value),
                   constant(getByteSize(value.getType()), 64)},
                  {});
  });
}

void StepWriter::lowerRelease(ReleaseOp release) {
  callRuntime("veeline_release", {rank, getOffloadNumber(release)}, {});
}

void StepWriter::lowerReload(ReloadOp reload) {
  Value number = getOffloadNumber(reload);
  Operation *offload = reload.getValues().front().getDefiningOp();
  auto offsets = offload->getAttrOfType<DenseI64ArrayAttr>(offsetsAttrName);
  bracket(reload, [&] {
    for (auto [copy, offset] :
         llvm::zip_equal(reload.getCopies(), offsets.asArrayRef()))
      callRuntime("veeline_reload",
                  {rank, number, getAddress(copy), constant(offset, 64),
                   constant(getByteSize(copy.getType()), 64)},
                  {});
  });
}

void StepWriter::lowerRestore(RestoreOp restore) {
  callRuntime("veeline_restore", {rank, getOffloadNumber(restore)}, {});
}
