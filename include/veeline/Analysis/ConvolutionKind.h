//===- ConvolutionKind.h - a convolution or an adjoint of one ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_ANALYSIS_CONVOLUTIONKIND_H
#define VEELINE_ANALYSIS_CONVOLUTIONKIND_H

namespace veeline {

enum class ConvolutionKind { Forward, BackwardData, BackwardWeights };

} // namespace veeline

#endif // VEELINE_ANALYSIS_CONVOLUTIONKIND_H
