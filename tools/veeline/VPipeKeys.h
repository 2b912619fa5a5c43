//===- VPipeKeys.h - keys of VPipe's job files ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VEELINE_TOOLS_VPIPEKEYS_H
#define VEELINE_TOOLS_VPIPEKEYS_H

#include "veeline/Compiler/JobFile.h"

namespace veeline::driver {

/// What is wrong with an entry of a job file.
struct JobError {
  compiler::JobEntry entry;
  std::string what;
};

/// Puts keys of ours in the place of those that a job file of VPipe has:
///   partition: FILE.json   the file's `partition`, `recompute_ratio` and
///                          `sync_mode`, each of which may also stand in the
///                          job file itself
///   recompute_ratio: LIST  `recompute`, where 0 is `none` and 1 is `full`
///   sync_mode: bsp, asp    `schedule`: `1f1b`, `pipedream`
/// `read` reads the file, which is a mapping as a job file is. An error is
/// about a file that is no such mapping or has other keys, a mode that does not
/// exist, and a key of VPipe's beside ours.
std::optional<JobError>
translateVPipeKeys(compiler::ReadJobFile &read,
                   std::vector<compiler::JobEntry> &entries);

} // namespace veeline::driver

#endif // VEELINE_TOOLS_VPIPEKEYS_H
