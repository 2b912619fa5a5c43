//===- gemm.h - scratch memory of matrix products ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_GEMM_H
#define VEELINE_GEMM_H

#include "veeline/artifact.h"

#include <string>

namespace veeline {

/// The bytes of scratch memory that veeline_gemm needs for `gemm` on this
/// machine, for one thread. They depend on the CPU. If the machine that runs an
/// artifact needs more than the artifact has, the runtime allocates memory
/// once, when the program is loaded.
Expected<int64_t> gemmScratchBytes(const artifact::Gemm &gemm);

/// The name and version of the library that computes products and convolutions
/// here.
std::string productLibrary();

} // namespace veeline

#endif // VEELINE_GEMM_H
