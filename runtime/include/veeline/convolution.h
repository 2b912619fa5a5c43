//===- convolution.h - scratch memory of convolutions -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_CONVOLUTION_H
#define VEELINE_CONVOLUTION_H

#include "veeline/artifact.h"

namespace veeline {

/// The bytes of scratch memory that veeline_convolution needs for `convolution`
/// on this machine, for one thread. They depend on the CPU. If the machine that
/// runs an artifact needs more than the artifact has, the runtime allocates
/// memory once, when the program is loaded.
Expected<int64_t>
convolutionScratchBytes(const artifact::Convolution &convolution);

/// The same on a GPU: the size of copies of operands in layouts that cuDNN does
/// not accept. It depends only on the convolution.
int64_t deviceConvolutionScratchBytes(const artifact::Convolution &convolution);

} // namespace veeline

#endif // VEELINE_CONVOLUTION_H
