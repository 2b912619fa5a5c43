//===- ValidateDevice.h - the rules of targets -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_VALIDATEDEVICE_H
#define VEELINE_RUNTIME_ARTIFACT_VALIDATEDEVICE_H

#include "veeline/artifact.h"

namespace veeline::artifact {

/// Checks what depends on the target: the code for a GPU and the members of
/// ranks that are for a GPU, or that there are none. `artifact` keeps all other
/// rules.
Status validateTarget(const Artifact &artifact);

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_VALIDATEDEVICE_H
