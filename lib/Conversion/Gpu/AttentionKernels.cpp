//===- AttentionKernels.cpp - which attention has a kernel ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/Conversion/Attention.h"

bool veeline::hasAttentionKernels() { return false; }

std::optional<std::string>
veeline::whyNoAttentionKernel(pipe::AttentionOpInterface op) {
  return "there are no kernels of attention yet";
}
