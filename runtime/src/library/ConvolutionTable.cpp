//===- ConvolutionTable.cpp - the convolutions of a rank ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Library/Convolution.h"
#include "veeline/Library/OneThread.h"

#include "veeline/convolution.h"

using namespace veeline;
using namespace veeline::library;

Status library::prepareConvolutions(
    const std::vector<artifact::Convolution> &convolutions, CallTable &table) {
  for (const artifact::Convolution &convolution : convolutions) {
    VEELINE_TRY_VALUE(std::unique_ptr<PreparedCall> prepared,
                      prepareConvolution(convolution));
    table.add(std::move(prepared), convolution.scratchBytes);
  }
  return Status::success();
}

Expected<int64_t>
veeline::convolutionScratchBytes(const artifact::Convolution &convolution) {
  // The library's plan depends on the number of threads.
  OneThread oneThread;
  VEELINE_TRY_VALUE(std::unique_ptr<PreparedCall> prepared,
                    prepareConvolution(convolution));
  return prepared->scratchBytes();
}
