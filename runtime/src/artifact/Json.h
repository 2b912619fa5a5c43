//===- Json.h - an artifact's metadata as JSON ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_JSON_H
#define VEELINE_RUNTIME_ARTIFACT_JSON_H

#include "veeline/artifact.h"

namespace veeline::artifact {

/// The metadata as one line of JSON, for the file.
std::string toCompactJson(const Metadata &metadata);

/// Parses metadata. Fails if `text` is not JSON, lacks a member, or has a
/// member that is unknown or of the wrong type. The message contains the path
/// of the member.
Expected<Metadata> fromJson(std::string_view text);

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_JSON_H
