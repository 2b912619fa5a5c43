//===- convolution.h - what the compiler asks of convolutions --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVOLUTION_H
#define VEELINE_CONVOLUTION_H

#include "veeline/artifact.h"

namespace veeline {

/// Bytes of scratch that veeline_convolution needs for `convolution` on this
/// machine, for one thread. They depend on the CPU: if the machine that runs an
/// artifact needs more than it says, the runtime allocates memory once, when it
/// loads.
Expected<int64_t>
convolutionScratchBytes(const artifact::Convolution &convolution);

/// The same on a GPU: copies of operands that cuDNN does not take as they are.
/// This depends on the convolution only.
int64_t deviceConvolutionScratchBytes(const artifact::Convolution &convolution);

} // namespace veeline

#endif // VEELINE_CONVOLUTION_H
