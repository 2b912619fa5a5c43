//===- StepOffload.cpp - what a step offloads -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StepWriter.h"

#include "veeline/Analysis/CostModel.h"

using namespace mlir;
using namespace veeline;
using namespace veeline::pipe;

void StepWriter::lowerOffload(OffloadOp offload) {
  Value number = constant(
      offloadNumbers.lookup({offload.getChunk(), offload.getMicrobatch()}), 32);
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
  callRuntime("veeline_release",
              {rank, constant(offloadNumbers.lookup({release.getChunk(),
                                                     release.getMicrobatch()}),
                              32)},
              {});
}

void StepWriter::lowerReload(ReloadOp reload) {
  Value number = constant(
      offloadNumbers.lookup({reload.getChunk(), reload.getMicrobatch()}), 32);
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
  callRuntime("veeline_restore",
              {rank, constant(offloadNumbers.lookup({restore.getChunk(),
                                                     restore.getMicrobatch()}),
                              32)},
              {});
}
