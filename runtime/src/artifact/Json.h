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

/// Fails if `text` is no JSON, lacks a member, has one of the wrong type, or an
/// unknown one. The message has the path of the member.
Expected<Metadata> fromJson(std::string_view text);

} // namespace veeline::artifact

#endif // VEELINE_RUNTIME_ARTIFACT_JSON_H
