//===- gemm.h - what the compiler asks about matrix products ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_GEMM_H
#define VEELINE_GEMM_H

#include "veeline/artifact.h"

#include <string>

namespace veeline {

/// Bytes of scratch that veeline_gemm needs for `gemm` on this machine, for one
/// thread. They depend on the CPU: if the machine that runs an artifact needs
/// more than it says, the runtime allocates memory once, when it loads.
Expected<int64_t> gemmScratchBytes(const artifact::Gemm &gemm);

/// The library that computes products and convolutions here, and its version.
std::string productLibrary();

} // namespace veeline

#endif // VEELINE_GEMM_H
