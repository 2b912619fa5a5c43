//===- Linker.h - the linker of host code -----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_LIB_CONVERSION_HOST_LINKER_H
#define VEELINE_LIB_CONVERSION_HOST_LINKER_H

#include "veeline/Conversion/HostTarget.h"

namespace veeline {

/// The path of the linker that `options` ask for, or an error if there is none.
llvm::Expected<std::string> findLinker(const HostTargetOptions &options);

} // namespace veeline

#endif // VEELINE_LIB_CONVERSION_HOST_LINKER_H
