//===- convolution.h - what the compiler asks of convolutions --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVOLUTION_H
#define VEELINE_CONVOLUTION_H

#include "veeline/artifact.h"

namespace veeline {

/// Bytes of scratch that veeline_convolution wants for `convolution` on this
/// machine, for one thread. They depend on the CPU: where the machine that runs
/// wants more than the artifact says, it allocates the difference once, when it
/// loads.
Expected<int64_t>
convolutionScratchBytes(const artifact::Convolution &convolution);

/// The same on a GPU, where it depends on the convolution alone: copies of the
/// operands that cuDNN does not take as they are.
int64_t deviceConvolutionScratchBytes(const artifact::Convolution &convolution);

} // namespace veeline

#endif // VEELINE_CONVOLUTION_H
