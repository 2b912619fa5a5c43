//===- ProductLibrary.cpp - the library of products -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "veeline/gemm.h"

#include <dnnl.hpp>

using namespace veeline;

std::string veeline::productLibrary() {
  const dnnl_version_t *version = dnnl::version();
  return "oneDNN " + std::to_string(version->major) + "." +
         std::to_string(version->minor) + "." + std::to_string(version->patch);
}
