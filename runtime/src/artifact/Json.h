//===- Json.h - an artifact's metadata as JSON -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_RUNTIME_ARTIFACT_JSON_H
#define VEELINE_RUNTIME_ARTIFACT_JSON_H

#include "veeline/artifact.h"

namespace veeline::artifact {

/// One line, for the file.
std::string toCompactJson(const Metadata &metadata);

/// Fails with the path of the offending member where `text` is no JSON, lacks
/// a member, or has one of the wrong type. Unknown members are refused.
Expected<Metadata> fromJson(std::string_view text);

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_JSON_H
