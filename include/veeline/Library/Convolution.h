//===- Convolution.h - convolutions of a rank ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIBRARY_CONVOLUTION_H
#define VEELINE_LIBRARY_CONVOLUTION_H

#include "veeline/Library/PreparedCall.h"

#include "veeline/artifact.h"

namespace veeline::library {

/// By oneDNN, or as a matrix product where that is faster. oneDNN gets weights
/// in the layout that it asks for; x and y only if it has nothing fast for the
/// layout that they are in.
Expected<std::unique_ptr<PreparedCall>>
prepareConvolution(const artifact::Convolution &convolution);

/// Fills a rank's table, on the thread that will run it, with one OpenMP
/// thread.
Status
prepareConvolutions(const std::vector<artifact::Convolution> &convolutions,
                    CallTable &table);

} // namespace veeline::library

#endif // VEELINE_LIBRARY_CONVOLUTION_H
