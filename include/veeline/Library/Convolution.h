//===- Convolution.h - convolutions of a rank by oneDNN ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIBRARY_CONVOLUTION_H
#define VEELINE_LIBRARY_CONVOLUTION_H

#include "veeline/Library/PreparedCall.h"

#include "veeline/artifact.h"

namespace veeline::library {

/// Prepares a convolution by oneDNN, or by a matrix product if that is faster.
/// oneDNN gets weights in its preferred layout. x and y are converted to such a
/// layout only if oneDNN has nothing fast for their own.
Expected<std::unique_ptr<PreparedCall>>
prepareConvolution(const artifact::Convolution &convolution);

/// Fills a rank's table. Must be called on the thread that will run the calls;
/// uses one OpenMP thread.
Status
prepareConvolutions(const std::vector<artifact::Convolution> &convolutions,
                    CallTable &table);

} // namespace veeline::library

#endif // VEELINE_LIBRARY_CONVOLUTION_H
