//===- ValidateDevice.h - the rules of targets -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_VALIDATEDEVICE_H
#define VEELINE_RUNTIME_ARTIFACT_VALIDATEDEVICE_H

#include "veeline/artifact.h"

namespace veeline::artifact {

/// What depends on the target: the code for a GPU and what ranks have for it,
/// or that there is none of that. Of an artifact that keeps all other rules.
Status validateTarget(const Artifact &artifact);

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_VALIDATEDEVICE_H
